"""costs.py SGD.json ADAM.json KEPT.json: what Adam's state and kept gradients add to mlp's plan."""
import json
import sys

# fc1.weight, fc1.bias, fc2.weight, fc2.bias of mlp.mlir, each on a 64-byte border.
ELEMENTS = [64 * 784, 64, 10 * 64, 10]
PARAMETERS = sum((4 * n + 63) // 64 * 64 for n in ELEMENTS)

sgd, adam, kept = (json.load(open(path))["memory"] for path in sys.argv[1:4])
assert sgd["weights_bytes"] == PARAMETERS, sgd
assert sgd["optimizer_bytes"] == 0, sgd
# Two moments, and what counts the steps.
assert 2 * PARAMETERS <= adam["optimizer_bytes"] <= 2 * PARAMETERS + 256, adam
# A gradient that lives on can share bytes with less.
assert kept["predicted_peak_bytes"] >= sgd["predicted_peak_bytes"], kept
