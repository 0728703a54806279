"""Two reports, and two safetensors files of each of the pairs that follow, are nearly equal.

compare_runs.py [--short-window] A.json B.json [A.safetensors B.safetensors]...

--short-window: B has a larger batch than there are samples.
"""
import array
import json
import struct
import sys


def tensors(path):
    with open(path, "rb") as file:
        data = file.read()
    (length,) = struct.unpack("<Q", data[:8])
    result = {}
    for name, entry in json.loads(data[8 : 8 + length]).items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            values = array.array("f")
            values.frombytes(data[8 + length + begin : 8 + length + end])
            result[name] = values
    return result


def largest_difference(a, b):
    return max(abs(x - y) for x, y in zip(a, b))


short_window = "--short-window" in sys.argv
if short_window:
    sys.argv.remove("--short-window")
first, second = (json.load(open(path)) for path in sys.argv[1:3])
assert len(first["loss"]) == len(second["loss"]) > 1, "steps"
assert first["batch"] == second["batch"] or short_window, "batch"
print("micro-batches", first["micro_batches"], second["micro_batches"])
for report in (first, second):
    median = report["step_seconds"]["median"]
    assert abs(report["samples_per_second"] * median - report["batch"]) < 1e-3 * report["batch"]
    assert report["memory"]["arena_bytes"] == report["memory"]["predicted_peak_bytes"]
    assert report["memory"]["allocations_in_step"] == 0, "allocations in a step"
difference = largest_difference(first["loss"], second["loss"])
assert difference < 1e-5, f"losses differ by {difference}"
assert first["loss"][0] != first["loss"][-1], "nothing was learned"
for key in ("test_accuracy",):
    assert abs((first[key] or 0) - (second[key] or 0)) < 1e-9, key
assert abs(first["accuracy"] - second["accuracy"]) < 1e-9, "accuracy"
files = sys.argv[3:]
for a, b in zip(files[::2], files[1::2]):
    a, b = tensors(a), tensors(b)
    assert a.keys() == b.keys() and a, "names"
    for name in a:
        difference = largest_difference(a[name], b[name])
        scale = max(abs(x) for x in a[name])
        assert difference <= 1e-4 * scale + 1e-6, f"{name} differs by {difference} of {scale}"
print("equal")
