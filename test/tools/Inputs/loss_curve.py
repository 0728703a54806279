"""loss_curve.py A.json B.json: the losses of two reports agree step by step, and are not all alike."""
import json
import sys

a, b = (json.load(open(path))["loss"] for path in sys.argv[1:3])
assert len(a) == len(b) > 1, (a, b)
assert len(set(a)) == len(a), a
for step, (x, y) in enumerate(zip(a, b)):
    # A step lets rounding grow; ten times a step is far more than was seen.
    assert abs(x - y) <= 1e-6 * 10**step * abs(x), (step, x, y)
print("largest difference", max(abs(x - y) / abs(x) for x, y in zip(a, b)))
