"""verified.py RUN.json STEPS PARAMETERS MOMENTS STATISTICS: as many tensors compared as the model has.
verified.py RUN.json COMPILE.json: what was verified is what the compiler makes of the same flags.
"""
import json
import sys


def load(path):
    with open(path) as file:
        return json.load(file)


run = load(sys.argv[1])
verify = run["verify"]
assert verify["identical"] is True and verify["difference"] is None, verify
if len(sys.argv) == 3:
    compiled = load(sys.argv[2])
    for key in ["policy", "retained", "recomputed"]:
        assert run["remat"][key] == compiled["remat"][key], key
    # Copies of the gradients come on top, and nothing else does.
    copies = run["memory"]["arena_bytes"] - compiled["memory"]["arena_bytes"]
    assert 0 <= copies - 4 * run["parameters"] < 64 * verify["compared"], copies
else:
    steps, parameters, moments, statistics = (int(text) for text in sys.argv[2:])
    each = 1 + parameters * (2 + moments) + statistics + 2
    assert verify["steps"] == steps == len(run["loss"]), verify
    assert verify["compared"] == steps * each, (verify, each)
