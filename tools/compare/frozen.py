"""What it costs to train a part of a network: peak and step of gc with frozen parameters against all trained, side by side.

    python frozen.py                     # ResNet-50 at batch 16, SGD with momentum, as a table
    python frozen.py --rounds=5 --steps=4
    python frozen.py --require           # exit 1 where the head alone needs more than 0.25 of the peak or 0.4 of the time

Needs nothing but the tools of the build folder. One round runs every plan in turn, a few steps each, the first step left out; a figure is the ratio
of medians, so that a slow minute of the machine meets all. Synthetic data.
"""

import argparse
import os
import statistics
import sys
import tempfile
from pathlib import Path

import budgets

NETWORK = ["resnet", "--depth=50"]
SHARED = ["--optimizer=sgd", "--momentum=0.9"]
PARTS = [("all", []),
         ("layer4 and fc", ["--train-only=layer4.*,fc.*"]),
         ("layer4 and fc, norms below fixed", ["--train-only=layer4.*,fc.*", "--freeze-norms"]),
         ("fc", ["--train-only=fc.*"]),
         ("fc, norms fixed", ["--train-only=fc.*", "--freeze-norms"])]
PEAK, TIME = 0.25, 0.4  # of the whole network's, for the head alone


def measure(tools, rounds, steps):
    model = tools.folder / "model.mlir"
    tools.run("gc-gen", *NETWORK, "-o", model)
    entries = []
    for i, (label, flags) in enumerate(PARTS):
        plan = tools.folder / f"{i}.plan"
        report = tools.compile(model, plan, [*SHARED, *flags])
        entries.append(dict(label=label, plan=plan, report=report, seconds=[]))
    for r in range(rounds):
        for entry in entries[::-1 if r % 2 else 1]:
            seconds, entry["measured"] = tools.steps(entry["plan"], steps)
            entry["seconds"] += seconds
    return entries


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=Path(__file__).resolve().parents[2] / "build")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--require", action="store_true")
    options = parser.parse_args()
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    with tempfile.TemporaryDirectory() as folder:
        entries = measure(budgets.Tools(options.build, folder), options.rounds, options.steps)
    print("| trained | parameters trained | predicted peak, bytes | of all | measured peak | step, ms | of all |")
    print("|---|---|---|---|---|---|---|")
    whole = entries[0]
    for entry in entries:
        peak = entry["report"]["memory"]["predicted_peak_bytes"]
        entry["peak"] = peak / whole["report"]["memory"]["predicted_peak_bytes"]
        median = statistics.median(entry["seconds"])
        entry["time"] = median / statistics.median(whole["seconds"])
        print(f"| {entry['label']} | {entry['report']['trainable_parameters']:,} | {peak:,} | {entry['peak']:.2f} | "
              f"{entry['measured'] / peak - 1:+.2%} | {1000 * median:.0f} | {entry['time']:.2f} |")
    missed = [e["label"] for e in entries if e["label"].startswith("fc") and (e["peak"] > PEAK or e["time"] > TIME)]
    if options.require and missed:
        sys.exit(f"above {PEAK} of the peak or {TIME} of the time: {'; '.join(missed)}")


if __name__ == "__main__":
    main()
