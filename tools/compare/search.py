#!/usr/bin/env python3
"""search.py OLD_BUILD [--build=DIR] [--count=50] [--layers=64] [--seed=1]

No plan worse than the old search's: random networks of repeated and irregular blocks (gc-random-model --layers), each with
budgets between what all needs and the smallest that can be met, compiled by two builds with the same built-in rates.
Prints a row for each network: by how many points the new plans are slower (negative: faster) on average and at worst, and
seconds of compilation. Exits with 1 where a new plan is slower than an old one, or a budget that was met no longer is.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

SHARES = (0.85, 0.7, 0.55, 0.4, 0.3)  # of what a step needs that recomputes nothing


class Compiler:
    def __init__(self, build, folder):
        self.tool, self.folder = os.path.join(build, "bin", "gc-compile"), folder

    def compile(self, model, *flags):
        """The report, or None where the budget is refused; and seconds."""
        report = os.path.join(self.folder, "report.json")
        start = time.monotonic()
        run = subprocess.run([self.tool, model, f"--report={report}", "--no-calibrate", "--threads=2", "--split=off", *flags],
                             capture_output=True, text=True)
        seconds = time.monotonic() - start
        if run.returncode == 3:
            return None, seconds
        if run.returncode != 0:
            sys.exit(f"search.py: {model} {' '.join(flags)}: {run.stderr}")
        with open(report, encoding="utf-8") as file:
            return json.load(file), seconds


def compare(old, new, model):
    """Points by which the new plan is slower at each budget (None: no longer met), and the seconds of both builds."""
    free, _ = old.compile(model)
    base, most = free["compiler"]["step_seconds_predicted"], free["memory"]["predicted_peak_bytes"]
    points, times = [], [0.0, 0.0]
    for share in SHARES:
        flag = f"--budget={int(share * most)}"
        before, seconds = old.compile(model, flag)
        times[0] += seconds
        after, seconds = new.compile(model, flag)
        times[1] += seconds
        if before is None:
            continue
        step = before["compiler"]["step_seconds_predicted"]
        points.append(None if after is None else 100 * (after["compiler"]["step_seconds_predicted"] - step) / base)
    return points, times


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", metavar="OLD_BUILD", help="build folder of the commit to compare with")
    parser.add_argument("--build", default="build")
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--layers", type=int, default=64)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    worse = judged = 0
    print("| network | budgets met | slower on average | at worst | seconds before | now |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        old, new = Compiler(given.old, folder), Compiler(given.build, folder)
        model = os.path.join(folder, "model.mlir")
        for seed in range(given.seed, given.seed + given.count):
            generate = [os.path.join(given.build, "bin", "gc-random-model"), str(seed), f"--layers={given.layers}"]
            made = subprocess.run(generate, capture_output=True, text=True)
            if made.returncode != 0:
                sys.exit(f"search.py: {' '.join(generate)}: {made.stderr}")
            with open(model, "w", encoding="utf-8") as file:
                file.write(made.stdout)
            points, times = compare(old, new, model)
            met = [point for point in points if point is not None]
            tolerance = 1e-6  # of a point: sums are added up in another order
            worse += sum(point is None or point > tolerance for point in points)
            judged += len(points)
            mean = sum(met) / len(met) if met else 0
            print(f"| {seed} | {len(met)} | {mean:+.3f} | {max(met, default=0):+.3f} | {times[0]:.1f} | {times[1]:.1f} |", flush=True)
    print(f"\n{judged} budgets, {worse} with a slower plan than before or none")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
