"""Runs gc-gen and gc-run from the build folder."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def add_build_option(parser):
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="build folder (default: %(default)s)")


def tool(build, name):
    path = build / "bin" / name
    if not path.exists():
        sys.exit(f"{path} is missing: build the tools first (tools/check, or ninja -C {build}), or name the "
                 "folder with --build")
    return str(path)


def call(command, **kwargs):
    """Runs a tool; where it fails, raises with the command, its exit code and what it said."""
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, **kwargs)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))}\nexit {done.returncode}: {done.stderr.strip()}")
    return done


def generate(build, arguments, path):
    """gc-gen's IR into a file."""
    with open(path, "w") as out:
        call([tool(build, "gc-gen"), *arguments], stdout=out)
    return path


def run(build, model, arguments, report):
    """gc-run on a file; returns its JSON report."""
    call([tool(build, "gc-run"), str(model), *map(str, arguments), f"--report={report}"],
         stdout=subprocess.DEVNULL)
    return json.loads(Path(report).read_text())
