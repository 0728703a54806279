"""near_losses.py A B TOLERANCE: the losses of two reports are near each other, relative, and not the same."""
import json
import sys

a, b = (json.load(open(path))["loss"] for path in sys.argv[1:3])
assert len(a) == len(b) > 1 and a != b, (a, b)
assert all(abs(x - y) <= float(sys.argv[3]) * abs(x) for x, y in zip(a, b)), (a, b)
