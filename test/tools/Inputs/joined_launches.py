"""joined_launches.py REPORT KIND UPDATES MOST: the plan does so many updates of a kind, in at most so many launches."""
import json
import re
import sys

report, kind, updates, most = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
with open(report, encoding="utf-8") as file:
    kernels = json.load(file)["compiler"]["cuda"]["kernels"]
found = launches = 0
for kernel in kernels:
    if name := re.fullmatch(rf"k\d+_{kind}(?:_x(\d+))?", kernel["name"]):
        launches += kernel["launches"]
        found += kernel["launches"] * int(name[1] or 1)
assert found == updates, f"{found} updates, expected {updates}"
assert launches <= most, f"{launches} launches, expected at most {most}"
