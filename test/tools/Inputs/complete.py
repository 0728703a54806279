"""complete.py FOLDER: what bash completes with the scripts in it. complete.py --flags FOLDER TOOL...: that every flag of
--help is in the scripts and pages in it."""
import os
import re
import subprocess
import sys

# As bash breaks them: at blanks and at `=`; the last one is completed.
LINES = [["gc-run", "--opti"], ["gc-run", "--optimizer", "=", "ad"], ["gc-run", "--optimizer", "ad"],
         ["gc-run", "--progress", "="], ["gc-run", "--shuf"], ["gc-run", "--load", "=", "a"], ["gc-run", "a"],
         ["gc-gen", "vi"], ["gc-gen", "vit", "--si"], ["gc-gen", "vit", "--size", "="],
         ["gc-gen", "resnet", "--depth", "=", "1"], ["gc-gen", "resnet", "--size"], ["gc-plan", "s"],
         ["gc-plan", "show", "--j"]]


def complete(folder, words):
    function = "_" + words[0].replace("-", "_")
    quoted = " ".join(f"'{word}'" for word in words)
    script = (f"source {words[0]}.bash; COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; {function}; "
              'printf "%s\\n" "${COMPREPLY[@]}"')
    done = subprocess.run(["bash", "--norc", "-c", script], cwd=folder, capture_output=True, text=True, check=True)
    return sorted(filter(None, done.stdout.split("\n")))


def missing_flags(folder, tool):
    text = subprocess.run([tool, "--help"], capture_output=True, text=True, check=True).stdout
    flags = set(re.findall(r"^ +(?:-\w,)?(--[a-z0-9-]+)", text, re.MULTILINE))
    assert len(flags) > 3, text
    for suffix in ("bash", "zsh", "fish", "1"):
        with open(os.path.join(folder, f"{tool}.{suffix}"), encoding="utf-8") as file:
            content = file.read().replace("\\-", "-")
        for flag in sorted(flags):
            if (f"-l {flag[2:]}" if suffix == "fish" else flag) not in content:
                yield f"{tool}.{suffix} lacks {flag}"


if sys.argv[1] == "--flags":
    complaints = [complaint for tool in sys.argv[3:] for complaint in missing_flags(sys.argv[2], tool)]
    print("\n".join(complaints))
    sys.exit(1 if complaints else 0)
for words in LINES:
    line = " ".join(words).replace(" = ", "=").replace(" =", "=")
    print(f"{line} -> {' '.join(complete(sys.argv[1], words))}")
