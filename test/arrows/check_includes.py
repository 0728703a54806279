"""check_includes.py ROOT | --self-check: the arrows between folders point one way."""
import os
import re
import sys
import tempfile

FOLDERS = ("dialects", "passes", "compiler", "runtime", "models", "tools", "test")
LIBRARIES = ("mlir", "llvm", "llvm-c", "mlir-c", "lld", "clang")

# What a folder may include of ours (a prefix), and whether it may see MLIR and LLVM. The longest
# matching folder counts.
RULES = {
    "runtime": (("runtime/",), False),
    "dialects": (("dialects/",), True),
    "passes": (("dialects/", "passes/"), True),
    "passes/algorithms": (("passes/algorithms/",), False),
    # The plan is the border to the runtime. Library.h is there too because the same code must size a
    # workspace when compiling and use it when running.
    "compiler": (("dialects/", "passes/", "compiler/", "runtime/plan/",
                  "runtime/hal/cpu/library/"), True),
    "models": (("dialects/", "models/"), True),
    "tools": (tuple(f + "/" for f in FOLDERS if f != "test"), True),
    "test": (tuple(f + "/" for f in FOLDERS), True),
}

INCLUDE = re.compile(r'^\s*(?:#\s*)?include\s*([<"])([^">]+)[">]')
SUFFIXES = (".h", ".hpp", ".c", ".cpp", ".inc", ".td", ".fbs", ".cu")


def rule_for(path):
    return RULES[max((f for f in RULES if path.startswith(f + "/")), key=len)]


def check_file(root, path):
    """Complaints about one file; `path` is relative to the root."""
    allowed, sees_mlir = rule_for(path)
    with open(os.path.join(root, path), encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            name = match.group(2)
            where = f"{path}:{number}: "
            first = name.split("/")[0]
            if ".." in name.split("/"):
                yield where + f"'{name}': includes start at the repository's root"
            elif first in LIBRARIES:
                if not sees_mlir:
                    yield where + f"'{name}': nothing here may depend on MLIR or LLVM"
            elif first in FOLDERS and "/" in name:
                if not name.startswith(allowed):
                    yield where + f"'{name}': this folder may include only " + ", ".join(allowed)
            elif match.group(1) == '"' and os.path.exists(
                    os.path.join(root, os.path.dirname(path), name)):
                yield where + f"'{name}': write the path from the repository's root"


def check_tree(root):
    """Every complaint, and the number of files read."""
    complaints, files = [], 0
    for folder in FOLDERS:
        for directory, _, names in os.walk(os.path.join(root, folder)):
            for name in sorted(names):
                if name.endswith(SUFFIXES):
                    path = os.path.relpath(os.path.join(directory, name), root)
                    complaints += check_file(root, path)
                    files += 1
    return complaints, files


# Path, its text, whether that is allowed.
PLANTED = [
    ("runtime/Bad.cpp", '#include "compiler/Compile.h"', False),
    ("runtime/plan/Bad.cpp", '#include "dialects/Gc.h"', False),
    ("runtime/hal/Bad.h", '#include "mlir/IR/Builders.h"', False),
    ("runtime/hal/Worse.h", "#include <llvm/ADT/StringRef.h>", False),
    ("runtime/Relative.cpp", '#include "../compiler/Compile.h"', False),
    ("dialects/Bad.cpp", '#include "passes/Autodiff.h"', False),
    ("dialects/Bad.td", 'include "passes/Passes.td"', False),
    ("passes/Bad.cpp", '#include "compiler/Pipeline.h"', False),
    ("passes/algorithms/Bad.cpp", '#include "dialects/Gc.h"', False),
    ("passes/algorithms/Worse.cpp", '  #  include "mlir/IR/Operation.h"', False),
    ("compiler/Bad.cpp", '#include "runtime/session/Session.h"', False),
    ("compiler/Worse.cpp", '#include "tools/flags/CompileFlags.h"', False),
    ("models/Bad.cpp", '#include "passes/Autodiff.h"', False),
    ("tools/gc-run/Bad.cpp", '#include "test/reference/Tensor.h"', False),
    ("runtime/Good.cpp", '#include "runtime/plan/Result.h"\n#include <vector>', True),
    ("compiler/Good.cpp", '#include "runtime/hal/cpu/library/Library.h"', True),
    ("passes/Good.cpp", '#include "mlir/IR/Builders.h"\n#include "dialects/Gc.h"', True),
    ("test/Good.cpp", '#include "runtime/session/Session.h"\n#include "passes/Autodiff.h"', True),
]


def self_check():
    wrong = []
    with tempfile.TemporaryDirectory() as root:
        for path, text, _ in PLANTED:
            os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
            with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                file.write(text + "\n")
        complaints, files = check_tree(root)
        for path, _, allowed in PLANTED:
            if any(c.startswith(path + ":") for c in complaints) == allowed:
                wrong.append(f"{path}: expected {'no complaint' if allowed else 'a complaint'}")
        if files != len(PLANTED):
            wrong.append(f"read {files} of {len(PLANTED)} files")
    return wrong


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: check_includes.py ROOT | --self-check")
    if sys.argv[1] == "--self-check":
        complaints = self_check()
    else:
        complaints, files = check_tree(sys.argv[1])
        if files < 100:
            complaints.append(f"found only {files} files below '{sys.argv[1]}'")
    for complaint in complaints:
        print(complaint)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
