"""What is drawn from rows alone: RESULTS.md, figures and the page, for measured and predicted rows, without any tool."""

import re
import shutil
import subprocess
import sys
import unittest
from xml.etree import ElementTree

from harness import StudyCase

SKIPPED, PYTHON = 77, "/usr/bin/python3"  # Debian's, with which tools/study runs
ONLY = {"mnist-grid": "112/4x[12]/adam/*", "cnn-checkpoints": "cnn11/*", "resnet-budgets": "resnet152/b8/*"}
PICTURES = {"mnist-grid": ["memory-cpu-adam", "time-cpu-adam", "utilization-cpu-adam"],
            "cnn-checkpoints": ["cnn11-peak-time-cpu", "cnn11-checkpoints-cpu"],
            "resnet-budgets": ["resnet152-memory-cpu", "resnet152-time-cpu", "resnet152-b8-timeline-cpu"]}


class Drawing(StudyCase):
    def draw(self, name):
        return self.study(name, "--draw", rows_only=False, python=PYTHON)

    def test_everything_comes_from_the_rows_alone(self):
        for name, only in ONLY.items():
            self.study(name, "--quick", f"--only={only}", fake="fails=sqrt" if name == "mnist-grid" else "")
            self.assertFalse((self.out / "RESULTS.md").exists())
            shutil.rmtree(self.build / "bin")
            self.draw(name)
            results, page = (self.out / "RESULTS.md").read_text(), (self.out / "index.html").read_text()
            for picture in PICTURES[name]:
                svg = (self.out / f"{picture}.svg").read_text()
                ElementTree.fromstring(svg)
                self.assertLess(len(svg), 200_000)
                self.assertIn(f"({picture}.svg)", results)
                self.assertIn(f'id="{picture}"', page)
                self.assertEqual((self.out / f"{picture}.png").read_bytes()[:4], b"\x89PNG")
            self.check_page(page)
            shutil.rmtree(self.folder)
            self.setUp()

    def check_page(self, page):
        self.assertIn('name="viewport"', page)
        self.assertIn("prefers-color-scheme: dark", page)
        self.assertFalse(re.findall(r'(?:src|href)="(?!#)[^"]*"|url\((?!#)[^)]*\)|@import', page), "not self-contained")

    def test_predicted_numbers_are_marked(self):
        self.study("mnist-grid", "--device=cuda", "--target=rtx3070", "--only=112/128x1/*")
        self.draw("mnist-grid")
        results = (self.out / "RESULTS.md").read_text()
        self.assertIn("100.0 (p)", results)
        self.assertIn("0 measured, 6 predicted", results)
        self.assertNotRegex(results, r"\| 100\.0 \|")

    def test_what_failed_is_a_line_that_says_why(self):
        self.study("resnet-budgets", "--quick", "--only=resnet152/b8/*", fake="fails=1.5GB fails=minus")
        self.draw("resnet-budgets")
        results = (self.out / "RESULTS.md").read_text()
        self.assertRegex(results, r"\| 8 \| 0\.10 \| (– \| ){3}0\.02 \| (– \| ){10}measured, failed \|")
        self.assertIn("resnet152/b8/1.5GB: exit code 4: gc-run: the device has gone", results)
        self.assertIn("−29.6 % memory: theirs +49 % time, simulated; ours measured, failed.", results)
        self.assertIn("failed</text>", (self.out / "resnet152-memory-cpu.svg").read_text())

    def test_without_the_step_that_others_are_compared_with(self):
        self.study("cnn-checkpoints", "--quick", "--only=cnn11/*", fake="fails=none fails=465.8MiB")
        self.draw("cnn-checkpoints")
        results = (self.out / "RESULTS.md").read_text()
        self.assertIn("failed with micro-batches, failed without", results)
        self.assertIn("VGG-16 in 1.5 GB: theirs +544 % time (0 checkpoints); ours not run with micro-batches", results)
        self.assertIn("ours 0.02 s at 67 MiB", results)
        self.assertIn("none: exit code 4", results)
        for picture in PICTURES["cnn-checkpoints"]:
            self.assertIn("step time, s", (self.out / f"{picture}.svg").read_text())

    def test_a_torn_row_is_left_out_and_stays(self):
        self.study("mnist-grid", "--quick", "--only=112/128x1/adam/[ns]*")
        path = self.out / "results.csv"
        torn = path.read_bytes()[:-30]
        path.write_bytes(torn)
        self.assertIn("not written to its end", self.draw("mnist-grid"))
        self.assertEqual(path.read_bytes(), torn)
        drawn = {path.name: path.read_bytes() for path in self.out.glob("*.*")}
        self.draw("mnist-grid")  # the same rows give the same files
        self.assertEqual(drawn, {path.name: path.read_bytes() for path in self.out.glob("*.*")})


if __name__ == "__main__":
    found = subprocess.run([PYTHON, "-c", "import matplotlib"], capture_output=True)
    if found.returncode:
        print(f"skipped: {PYTHON} has no matplotlib (python3-matplotlib)")
        sys.exit(SKIPPED)
    unittest.main()
