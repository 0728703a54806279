"""costs.py SGD.json ADAM.json KEPT.json: what Adam's state and kept gradients add to mlp's plan."""
import json
import sys

# fc1.weight, fc1.bias, fc2.weight, fc2.bias of mlp.mlir, each on a 64-byte border.
ELEMENTS = [64 * 784, 64, 10 * 64, 10]
PARAMETERS = sum((4 * n + 63) // 64 * 64 for n in ELEMENTS)

sgd, adam, kept = (json.load(open(path))["memory"] for path in sys.argv[1:4])
# What counts the steps, and their learning rates.
GENERATOR, SCHEDULE = 64, 4 * 256
assert sgd["weights_bytes"] == PARAMETERS + GENERATOR, sgd
assert sgd["optimizer_bytes"] == SCHEDULE, sgd
# Two moments.
assert adam["weights_bytes"] == sgd["weights_bytes"], adam
assert adam["optimizer_bytes"] == SCHEDULE + 2 * PARAMETERS, adam
# A gradient that lives on can share bytes with less.
assert kept["predicted_peak_bytes"] >= sgd["predicted_peak_bytes"], kept
