"""choices.py REPORT WAYS REASON: what a report of gc-compile says of the choice between cuDNN and generated kernels.

WAYS are the ways that occur (library, generated), with commas, REASON the reason of all rows. Where times decided, each
row's way is the one of less time.

choices.py --scale PROFILE FACTOR OUT: a profile with all its times multiplied.

choices.py --ways PROFILE GENERATED LIBRARY OUT: costs that have the ops of the profile measured both ways, at so many seconds.

choices.py --classes GENERATED LIBRARY OUT: costs that have measured rates of convolutions and products both ways, as multiples
of a roofline's.
"""
import json
import sys

CLASSES = [f"{kind}, {direction}" for kind in ("1x1 convolution", "3x3 convolution", "other convolution", "large product",
                                               "thin product") for direction in ("forward", "data", "weights")]
RATES = {"starts_per_second": 4e5, "conv_forward_flops_per_second": 2e13, "conv_data_flops_per_second": 2e13,
         "conv_weights_flops_per_second": 2e13, "conv_strided_weights_flops_per_second": 2e13,
         "matmul_flops_per_second": 2e13, "attention_flops_per_second": 1e13, "product_bytes_per_second": 7e11,
         "stream_bytes_per_second": 7e11, "row_bytes_per_second": 6e11, "arithmetic_flops_per_second": 1e13}


def write_costs(path, **measured):
    json.dump({"machine": "none", "device": "cuda", "threads": 1, "roofline": RATES, **measured}, open(path, "w"))
    sys.exit(0)


if sys.argv[1] == "--scale":
    profile = json.load(open(sys.argv[2]))
    for op in profile["ops"]:
        op["median_seconds"] *= float(sys.argv[3])
    json.dump(profile, open(sys.argv[4], "w"))
    sys.exit(0)
if sys.argv[1] == "--ways":
    ops = {}  # an op may have several commands
    for command in json.load(open(sys.argv[2]))["ops"]:
        op = ops.setdefault((command["list"], command["op"]), {"kind": command["name"].split("@")[0].split(":")[-1],
                                                               "flops": 0, "bytes": 0})
        op["flops"] += command["flops"]
        op["bytes"] += command["bytes_moved"]
    write_costs(sys.argv[5], measured_ops=[{**op, "way": way, "seconds": float(seconds)} for op in ops.values()
                                           for way, seconds in (("generated", sys.argv[3]), ("library", sys.argv[4]))])
if sys.argv[1] == "--classes":
    write_costs(sys.argv[4], product_classes=[{"class": one, "way": way, "speed": float(speed)} for one in CLASSES
                                              for way, speed in (("generated", sys.argv[2]), ("library", sys.argv[3]))])
rows = json.load(open(sys.argv[1]))["compiler"]["cuda"]["choices"]
assert rows, "there was no choice"
for row in rows:
    assert row["ops"] >= 1 and row["library_seconds"] > 0 and row["generated_seconds"] > 0, row
    assert row["reason"] == sys.argv[3], row
    if row["reason"] not in ("asked for", "tensor cores", "less workspace"):
        faster = "generated" if row["generated_seconds"] < row["library_seconds"] else "library"
        assert row["way"] == faster, row
ways = {row["way"] for row in rows}
assert ways == set(sys.argv[2].split(",")), ways
