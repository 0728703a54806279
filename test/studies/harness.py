"""Calls tools/study in a folder of its own, with stand-ins for gc-gen, gc-compile and gc-run."""

import csv
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STUDY = ROOT / "tools" / "study"
sys.path.insert(0, str(ROOT / "tools"))


def fake_build(folder):
    """A build folder whose tools answer at once."""
    (folder / "bin").mkdir(parents=True)
    text = (Path(__file__).parent / "fake_tool.py").read_text()
    for name in ("gc-gen", "gc-compile", "gc-run"):
        tool = folder / "bin" / name
        tool.write_text(f"#!{sys.executable} -S\n{text}")
        tool.chmod(0o755)
    return folder


class StudyCase(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="gc-studies-test-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.build, self.out = fake_build(self.folder / "build"), self.folder / "out"

    def command(self, *words, python=sys.executable):
        return [python, "-B", str(STUDY), *words, f"--output={self.out}"]

    def study(self, *words, code=0, fake="", rows_only=True, python=sys.executable):
        words = [*words, f"--build={self.build}", "--rows-only"] if rows_only else words
        done = subprocess.run(self.command(*words, python=python), capture_output=True, text=True, timeout=120,
                              env={**os.environ, "FAKE": fake})
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stderr

    def rows(self, name="results.csv"):
        with open(self.out / name, newline="") as file:
            return list(csv.DictReader(file))

    def row(self, setting):
        return next(row for row in reversed(self.rows()) if row["setting"] == setting)
