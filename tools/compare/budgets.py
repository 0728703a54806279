"""What memory budgets cost in time: gc with a budget against gc without one, side by side.

    python budgets.py                    # all cases, as a table
    python budgets.py resnet-50 vit      # the cases whose names begin so
    python budgets.py --rounds=5 --steps=4

Needs nothing but the tools of the build folder. The peaks of PyTorch (weights and its allocator's peak in a
step) are written down below, as published for this comparison; speed.py measures them again. A budget is a part of them. One round runs every plan of a case in
turn, a few steps each, the first step left out; a case's figure is the ratio of medians, so that a slow
minute of the machine meets all. Synthetic data, SGD unless the case says otherwise.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

# name: (gc-gen arguments, flags of all plans, [(label, flags with a budget, allowed slowdown)])
TORCH = {"mnist-224": 1.03e9, "resnet-50": 1.50e9, "vit-small": 1.04e9, "mnist-448": 3.29e9}
CASES = {
    "mnist-224": (["mnist", "--image=224"], [],
                  [("0.65 of PyTorch's peak", ["--budget=669500000"], 0.03)]),
    "resnet-50": (["resnet", "--depth=50"], [],
                  [("0.65 of PyTorch's peak", ["--budget=975MB"], 0.03),
                   ("-60 %", ["--budget=600MB"], 0.08), ("-67 %", ["--budget=495MB"], 0.11)]),
    "vit-small": (["vit", "--size=small"], [],
                  [("0.65 of PyTorch's peak", ["--budget=676MB", "--accumulate=auto"], 0.03),
                   ("-50 %", ["--budget=520MB", "--accumulate=auto"], 0.08),
                   ("-50 %, recomputation alone", ["--budget=520MB"], 0.08)]),
    "mnist-448": (["mnist", "--image=448"], [],
                  [("0.55 of PyTorch's peak", ["--budget=1.8095GB"], 0.15)]),
    "cnn11": (["cnn11"], [],
              [("465.8 MiB, micro-batches", ["--budget=465.8MiB", "--accumulate=auto"], 0.05),
               ("465.8 MiB, parts of the batch", ["--budget=465.8MiB"], 0.25),
               ("smallest on the whole batch", ["--budget=least", "--split=off"], 0.40)]),
    "resnet-152 b8": (["resnet", "--depth=152", "--classes=10", "--batch=8"], ["--optimizer=adam"],
                      [("1.5 GB", ["--budget=1.5GB"], 0.10)]),
    "resnet-152 b16": (["resnet", "--depth=152", "--classes=10", "--batch=16"], ["--optimizer=adam"],
                       [("1.5 GB", ["--budget=1.5GB"], 0.20)]),
    "resnet-152 b32": (["resnet", "--depth=152", "--classes=10", "--batch=32"], ["--optimizer=adam"],
                       [("1.5 GB", ["--budget=1.5GB"], 0.35)]),
    "resnet-152 b64": (["resnet", "--depth=152", "--classes=10", "--batch=64"], ["--optimizer=adam"],
                       [("1.5 GB, else the smallest", ["--budget=1.5GB|least"], 0.45)]),
}


class Tools:
    def __init__(self, build, folder):
        self.bin, self.folder = Path(build) / "bin", Path(folder)

    def run(self, name, *arguments, check=True):
        done = subprocess.run([str(self.bin / name), *map(str, arguments)], capture_output=True, text=True)
        if check and done.returncode:
            sys.exit(f"{name} {' '.join(map(str, arguments))}\n{done.stderr}")
        return done

    def compile(self, model, plan, flags):
        report = self.folder / "compile.json"
        self.run("gc-compile", model, "-o", plan, f"--report={report}", *flags)
        return json.loads(report.read_text())

    def least(self, model, flags):
        refused = self.run("gc-compile", model, "--budget=1000", *flags, check=False)
        return re.search(r"try --budget=(\d+)", refused.stderr).group(1)

    def steps(self, plan, count):
        report = self.folder / "run.json"
        self.run("gc-run", plan, "--data=synthetic", f"--steps={count + 1}", f"--report={report}")
        result = json.loads(report.read_text())
        return result["step_seconds"]["all"][1:], result["memory"]["measured_peak_bytes"]


def budget_flags(tools, model, shared, flags):
    """Fills in the smallest feasible budget, where it is asked for or where the one given cannot be met."""
    budget = flags[0].removeprefix("--budget=")
    if budget.endswith("|least"):
        budget = budget.removesuffix("|least")
        met = tools.run("gc-compile", model, f"--budget={budget}", *shared, check=False).returncode == 0
        budget = budget if met else "least"
    if budget == "least":
        budget = tools.least(model, [*shared, *flags[1:]])
    return [f"--budget={budget}", *flags[1:]]


def measure(tools, name, rounds, steps):
    gen, shared, wanted = CASES[name]
    model = tools.folder / "model.mlir"
    tools.run("gc-gen", *gen, "-o", model)
    plans = [("none", shared, None)]
    plans += [(label, [*shared, *budget_flags(tools, model, shared, flags)], goal) for label, flags, goal in wanted]
    entries = []
    for i, (label, flags, goal) in enumerate(plans):
        plan = tools.folder / f"{i}.plan"
        report = tools.compile(model, plan, flags)
        entries.append(dict(label=label, goal=goal, plan=plan, report=report, seconds=[], flags=flags))
    for r in range(rounds):
        for entry in entries[::-1 if r % 2 else 1]:
            seconds, entry["measured"] = tools.steps(entry["plan"], steps)
            entry["seconds"] += seconds
    base = statistics.median(entries[0]["seconds"])
    for entry in entries:
        report, median = entry["report"], statistics.median(entry["seconds"])
        peak = report["memory"]["predicted_peak_bytes"]
        part = f"{peak / TORCH[name]:.2f}" if name in TORCH else ""
        goal = "" if entry["goal"] is None else f"+{100 * entry['goal']:.0f} %"
        print(f"| {name} | {entry['label']} | {peak:,} | {entry['measured'] / peak - 1:+.2%} | {part} | "
              f"{report['micro_batches']} | {report['remat']['recompute_fraction']:+.1%} | "
              f"{median / base - 1:+.1%} | {goal} | {report['compile_seconds']:.1f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("case", nargs="*", help="beginnings of names; default: all")
    parser.add_argument("--build", default=Path(__file__).resolve().parents[2] / "build")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=3)
    options = parser.parse_args()
    names = [n for n in CASES if not options.case or any(n.startswith(c) for c in options.case)]
    if not names:
        parser.error(f"no such case; there are {', '.join(CASES)}")
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print("| case | budget | predicted peak, bytes | measured | of PyTorch's | micro-batches | predicted | "
          "measured time | allowed | compiled in, s |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            measure(Tools(options.build, folder), name, options.rounds, options.steps)


if __name__ == "__main__":
    main()
