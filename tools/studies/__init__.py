"""The studies: published questions about memory and time of training, answered by running gc's own tools."""
