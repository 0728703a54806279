"""check_format.py ROOT | --self-check: every C++ file is formatted as .clang-format says.

Formatters of different versions disagree, so only Debian 12's (14) judges. Where there is another one, or none, the
test is skipped (exit code 77) and says so; continuous integration has it (tools/setup).
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

WANTED = "14"
SKIPPED = 77
ENDINGS = (".cpp", ".h")


def find_formatter():
    """The program, or None and why there is none."""
    seen = []
    for name in (f"clang-format-{WANTED}", "clang-format"):
        path = shutil.which(name)
        if not path:
            continue
        text = subprocess.run([path, "--version"], capture_output=True, text=True).stdout
        version = re.search(r"version (\d+)\.", text)
        if version and version.group(1) == WANTED:
            return path, ""
        seen.append(text.strip())
    return None, f"there is {seen[0]}" if seen else "there is no clang-format"


def sources(root):
    listing = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard"],
                             capture_output=True, text=True)
    if listing.returncode == 0:
        files = listing.stdout.splitlines()
    else:  # an archive without git
        files = [os.path.relpath(os.path.join(d, f), root) for d, _, fs in os.walk(root) for f in fs
                 if not os.path.relpath(d, root).startswith(("build", ".git"))]
    return sorted(f for f in files if f.endswith(ENDINGS) and os.path.exists(os.path.join(root, f)))


def unformatted(formatter, root, files):
    """The files, each with its first line that would change."""
    done = subprocess.run([formatter, "--dry-run", *files], cwd=root, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"check_format: {formatter} ended with {done.returncode}\n{done.stderr[-4000:]}")
    first = {}
    for match in re.finditer(r"^(.+?):(\d+):\d+: warning: code should be clang-formatted", done.stderr,
                             re.MULTILINE):
        first.setdefault(match.group(1), match.group(2))
    return [f"{file}:{line}" for file, line in first.items()]


def self_check(formatter):
    with tempfile.TemporaryDirectory() as root:
        for name, text in ((".clang-format", "BasedOnStyle: LLVM\n"), ("good.cpp", "int x = 1;\n"),
                           ("bad.cpp", "int x = 1;\nint  y=2 ;\n")):
            with open(os.path.join(root, name), "w", encoding="utf-8") as file:
                file.write(text)
        found = unformatted(formatter, root, sources(root))
    if found != ["bad.cpp:2"]:
        print(f"check_format: expected ['bad.cpp:2'], got {found}")
        return 1
    return 0


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: check_format.py ROOT | --self-check")
    formatter, reason = find_formatter()
    if not formatter:
        print(f"skipped: the format is judged by clang-format {WANTED} (Debian 12), and {reason}")
        return SKIPPED
    if sys.argv[1] == "--self-check":
        return self_check(formatter)
    root = os.path.abspath(sys.argv[1])
    files = sources(root)
    if len(files) < 100:
        print(f"check_format: found only {len(files)} files below '{root}'")
        return 1
    wrong = unformatted(formatter, root, files)
    for place in wrong:
        print(f"{place}: not formatted; run clang-format -i on it")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
