"""frozen.py ALL LAST FC FIXED: compile reports of a network trained whole, in its last stage, in its head, and in its head with norms in
inference form. Each needs less than the one before."""
import json
import sys


def load(path):
    with open(path) as file:
        return json.load(file)


whole, last, head, fixed = (load(path) for path in sys.argv[1:])
for report in (whole, last, head, fixed):
    assert report["parameters"] == whole["parameters"]
assert whole["trainable_parameters"] == whole["parameters"]
assert whole["trainable_parameters"] > last["trainable_parameters"] > head["trainable_parameters"] == fixed["trainable_parameters"]
peaks = [report["memory"]["predicted_peak_bytes"] for report in (whole, last, head, fixed)]
assert peaks[0] > peaks[1] > peaks[2], peaks
# The norms' deviations are a few numbers more.
assert abs(peaks[3] - peaks[2]) < 0.001 * peaks[2], peaks
seconds = [report["prediction"]["step_seconds"] for report in (whole, last, head, fixed)]
assert seconds[0] > seconds[1] > seconds[2] > seconds[3], seconds
# SGD's velocity is all the state that there is, four bytes for each parameter that is trained; variables begin at multiples of 64 bytes.
for report in (whole, last, head, fixed):
    state = report["memory"]["optimizer_bytes"] - 4 * report["trainable_parameters"]
    assert 0 <= state < 64 * 64, state
