"""choices.py REPORT WAYS REASON: what a report of gc-compile says of the choice between cuDNN and generated kernels.

WAYS are the ways that occur (library, generated), with commas, REASON the reason of all rows. Where times decided, each
row's way is the one of less time.

choices.py --scale PROFILE FACTOR OUT: a profile with all its times multiplied.
"""
import json
import sys

if sys.argv[1] == "--scale":
    profile = json.load(open(sys.argv[2]))
    for op in profile["ops"]:
        op["median_seconds"] *= float(sys.argv[3])
    json.dump(profile, open(sys.argv[4], "w"))
    sys.exit(0)
rows = json.load(open(sys.argv[1]))["compiler"]["cuda"]["choices"]
assert rows, "there was no choice"
for row in rows:
    assert row["ops"] >= 1 and row["library_seconds"] > 0 and row["generated_seconds"] > 0, row
    assert row["reason"] == sys.argv[3], row
    if row["reason"] in ("measured", "predicted"):
        faster = "generated" if row["generated_seconds"] < row["library_seconds"] else "library"
        assert row["way"] == faster, row
ways = {row["way"] for row in rows}
assert ways == set(sys.argv[2].split(",")), ways
