"""listed_passes.py PASSES.TD HELP: every pass of the .td file has a line in the help text."""
import re
import sys

with open(sys.argv[1]) as file:
    passes = re.findall(r': Pass<"([\w-]+)"', file.read())
with open(sys.argv[2]) as file:
    listed = re.findall(r"^  --([\w-]+) +- ", file.read(), re.MULTILINE)
missing = [name for name in passes if name not in listed]
if not passes or missing:
    sys.exit(f"gc-opt --help (tools/gc-opt/Help.cpp) does not list {missing} of {len(passes)} passes")
