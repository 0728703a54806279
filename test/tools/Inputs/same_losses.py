"""same_losses.py A B: two reports with the same losses, bit for bit."""
import json
import sys

a, b = (json.load(open(path))["loss"] for path in sys.argv[1:])
assert len(a) > 1 and len(set(a)) > 1 and a == b, (a, b)
