"""joined_launches.py REPORT KIND UPDATES MOST: the plan does so many updates of a kind, in at most so many launches.
The prediction counts a start for each launch, not for each update."""
import json
import re
import sys

report, kind, updates, most = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
with open(report, encoding="utf-8") as file:
    compiler = json.load(file)["compiler"]
kernels, joined = compiler["cuda"]["kernels"], compiler["joined_updates"]
found = launches = 0
for kernel in kernels:
    if name := re.fullmatch(rf"k\d+_{kind}(?:_x(\d+))?", kernel["name"]):
        launches += kernel["launches"]
        found += kernel["launches"] * int(name[1] or 1)
assert found == updates, f"{found} updates, expected {updates}"
START = 1 / 4e5  # compiler/cuda/DeviceRates.h
saved = (joined["updates"] - joined["commands"]) * START
assert abs(joined["seconds_saved_predicted"] - saved) < 1e-9, joined
assert updates - launches == joined["updates"] - joined["commands"], joined
assert launches <= most, f"{launches} launches, expected at most {most}"
