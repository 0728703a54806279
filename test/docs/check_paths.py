"""check_paths.py ROOT | --self-check: every path that a README or a comment names exists.

Looked at: words that look like a path of ours (`compiler/Compile.h`, `test/door`, `runtime/hal/Device.h`) in
Markdown and in comments of sources. A path may be written from the repository's root, from the folder
of the file that names it, or from one of the folders above it. Wildcards and words with capitals that stand for a
name (`test/passes/FOO.mlir`, `libgc-device-NAME.so`) are left alone.
"""
import os
import re
import subprocess
import sys
import tempfile

FOLDERS = "compiler|dialects|passes|runtime|models|test|tools|docs|cmake"
PATH = re.compile(r"(?<![\w./~$=-])((?:%s)(?:/[\w.+-]*[\w+-])+)" % FOLDERS)
# A file by its bare name, with an ending that is ours. Headers only in backquotes: others have some.
FILE = re.compile(r"`([\w-]+\.h)`|(?<![\w./<-])([\w-]+\.(?:cpp|td|fbs|md))\b")
EXTERNAL = {"nvml.h", "cuda.h", "cudnn.h", "models/model.json"}  # the last within PyTorch's archives
COMMENT = re.compile(r"^\s*(?://|#)|\s//\s|\s#\s")
PLACEHOLDER = re.compile(r"(?:^|/|-)(?:[A-Z]+|Foo\w*|foo\w*|X|N)(?:\.|$|/)")
ENDINGS = (".md", ".cpp", ".h", ".td", ".fbs", ".py", ".txt", ".cmake", ".mlir", ".test")


def candidates(root, file, path):
    """Where `path` may be meant, seen from `file`."""
    folder = os.path.dirname(file)
    while True:
        yield os.path.join(root, folder, path)
        if not folder:
            return
        folder = os.path.dirname(folder)


def is_made(name):
    return "generated" in name or name.endswith(".inc")


def exists(root, file, path):
    if PLACEHOLDER.search(path) or path in EXTERNAL:
        return True
    for place in candidates(root, file, path):
        # A name without its ending stands for header and source together, or for a lit test.
        if any(os.path.exists(place + ending) for ending in ("", ".h", ".cpp", ".td", ".mlir", ".test")):
            return True
    return is_made(path)


def check_file(root, file, names):
    is_text = file.endswith(".md")
    with open(os.path.join(root, file), encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if not is_text and (not COMMENT.search(line) or "#include" in line):
                continue
            text = line if is_text else line[COMMENT.search(line).start():]
            for match in PATH.finditer(text):
                if not exists(root, file, match.group(1)):
                    yield f"{file}:{number}: {match.group(1)} does not exist"
            for match in FILE.finditer(text):
                name = match.group(1) or match.group(2)
                if not (name in names or name in EXTERNAL or is_made(name) or PLACEHOLDER.search(name)):
                    yield f"{file}:{number}: no file is called {name}"


def check(root, files):
    names = {os.path.basename(file) for file in files}
    complaints = []
    for file in sorted(files):
        if file.endswith(ENDINGS) or os.path.basename(file) == "CMakeLists.txt":
            complaints += check_file(root, file, names)
    return complaints


def self_check():
    with tempfile.TemporaryDirectory() as root:
        os.makedirs(os.path.join(root, "runtime/plan"))
        texts = {
            "README.md": "`runtime/plan/Plan.h` is there, `runtime/Gone.h` is not, `Lost.cpp` neither.\n",
            "runtime/plan/Plan.h": "// See plan/Plan.h; not runtime/plan/Gone.h.\nint x; // a/b\n",
        }
        for path, text in texts.items():
            with open(os.path.join(root, path), "w") as file:
                file.write(text)
        found = check(root, set(texts))
    wanted = ["README.md:1: runtime/Gone.h does not exist", "README.md:1: no file is called Lost.cpp",
              "runtime/plan/Plan.h:1: runtime/plan/Gone.h does not exist"]
    return 0 if found == wanted else print(f"check_paths: expected {wanted}, got {found}") or 1


def main():
    if sys.argv[1:] == ["--self-check"]:
        return self_check()
    root = sys.argv[1]
    listing = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard"],
                             capture_output=True, text=True)
    if listing.returncode == 0:
        files = {f for f in listing.stdout.splitlines() if os.path.exists(os.path.join(root, f))}
    else:  # an archive without git
        files = {os.path.relpath(os.path.join(d, f), root) for d, _, fs in os.walk(root) for f in fs
                 if not os.path.relpath(d, root).startswith(("build", ".git"))}
    complaints = check(root, files)
    print("\n".join(complaints) or f"{len(files)} files: every path named exists")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
