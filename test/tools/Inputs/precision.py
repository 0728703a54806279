"""precision.py losses F32.json BF16.json: the losses are near each other, and not the same.
precision.py activations F32.json BF16.json: 0.4 to 0.62 of the bytes of activations are left.
"""
import json
import sys

what, single, half = sys.argv[1], *(json.load(open(path)) for path in sys.argv[2:4])
assert single["precision"] == {"products": "f32", "saved": "f32", "master": "f32"}, single["precision"]
assert half["precision"] == {"products": "bf16", "saved": "bf16", "master": "f32"}, half["precision"]
assert single["memory"]["master_bytes"] == 0 < half["memory"]["master_bytes"] <= half["memory"]["weights_bytes"]
if what == "losses":
    # bf16 has eight bits: a loss of some ten steps is off by a few of its last ones.
    for a, b in zip(single["loss"], half["loss"], strict=True):
        assert abs(a - b) <= 0.03 * abs(a), (a, b)
    assert single["loss"] != half["loss"], "nothing was rounded"
    assert abs(single["test_loss"] - half["test_loss"]) <= 0.03 * single["test_loss"]
else:
    share = half["memory"]["activations_bytes"] / single["memory"]["activations_bytes"]
    assert 0.4 <= share <= 0.62, share
