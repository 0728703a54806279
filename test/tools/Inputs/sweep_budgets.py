"""sweep_budgets.py MODEL.mlir POINTS [flags]: compiles with budgets from all that is needed to the minimum.

Every budget is met, and a smaller one never predicts less time. The minimum is the one that an
impossible budget's message names.
"""
import json
import re
import subprocess
import sys
import tempfile

model, points, flags = sys.argv[1], int(sys.argv[2]), sys.argv[3:]


def compile_with(budget):
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        command = ["gc-compile", model, f"--report={report.name}", f"--budget={budget}", *flags]
        run = subprocess.run(command, capture_output=True, text=True)
        return run, json.load(open(report.name)) if run.returncode == 0 else None


refused, _ = compile_with(1000)
assert refused.returncode == 3, refused
least = int(re.search(r"try --budget=(\d+)", refused.stderr).group(1))
_, free = compile_with(10**14)  # more than anything needs
most = free["memory"]["predicted_peak_bytes"]
assert least < most, (least, most)
seconds = 0.0
for i in range(points):
    budget = most - (most - least) * i // (points - 1)
    run, report = compile_with(budget)
    assert run.returncode == 0, (budget, run.stderr)
    peak = report["memory"]["predicted_peak_bytes"]
    assert peak <= budget, (peak, budget)
    now = report["compiler"]["step_seconds_predicted"]
    assert now >= seconds, f"budget {budget}: {now} s after {seconds} s"
    seconds = now
print(f"{points} budgets from {most} to {least} met")
