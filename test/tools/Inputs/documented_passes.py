"""documented_passes.py HELP PASSES.MD: every pass, pipeline and option of gc-opt's help text is in the documentation."""
import re
import sys

with open(sys.argv[1]) as file:
    help_text = file.read()
with open(sys.argv[2]) as file:
    page = file.read()
sections = {name: text for name, text in re.findall(r"^### `-([\w-]+)`\n(.*?)(?=^###? |\Z)", page,
                                                    re.MULTILINE | re.DOTALL)}
missing, section = [], None
for indent, name in re.findall(r"^( +)--(\w[\w-]*)(?:=<[^>]*>)? +- ", help_text, re.MULTILINE):
    if len(indent) == 2:  # a pass or a pipeline; what follows it further in is its options
        section = name
        if name not in sections:
            missing.append(f"--{name}")
    elif not re.search(rf"^-{name} +:", sections.get(section, ""), re.MULTILINE):
        missing.append(f"--{section}={name}")
if not section or missing:
    sys.exit(f"docs/passes.md lacks {missing}: change passes/Passes.td or compiler/Passes.md and run tools/docs")
