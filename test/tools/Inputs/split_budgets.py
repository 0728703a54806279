"""split_budgets.py MODEL.mlir POINTS [flags]: budgets that only a step in parts of the batch can meet.

Without parts the smallest is larger. From there down to the smallest with parts, every budget is met by a
step in parts, which the report names so that it can be asked for; what is smaller is refused. One of them
computes the bits of the same step in parts that recomputes nothing.
"""
import json
import random
import re
import subprocess
import sys
import tempfile

model, points, flags = sys.argv[1], int(sys.argv[2]), sys.argv[3:]


def compile_with(*more):
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        run = subprocess.run(["gc-compile", model, f"--report={report.name}", "--no-calibrate", "--check",
                              *flags, *more], capture_output=True, text=True)
        return run, json.load(open(report.name)) if run.returncode == 0 else None


def least(*more):
    run, _ = compile_with("--budget=1000", *more)
    assert run.returncode == 3, run
    return int(re.search(r"try --budget=(\d+)", run.stderr).group(1)), run.stderr


whole, said = least("--split=off")
assert "parts of the batch" not in said, said
parts, said = least()
assert "chains of ops in" in said and "with and without such parts" in said, said
assert parts < whole, (parts, whole)
random.seed(1)
budgets = [parts, whole - 1] + [random.randrange(parts, whole) for _ in range(points - 2)]
for budget in budgets:
    run, report = compile_with(f"--budget={budget}")
    assert run.returncode == 0, (budget, run.stderr)
    split = report["split"]
    assert split["parts"] > 1 and split["chains"], split
    assert report["memory"]["predicted_peak_bytes"] <= budget
    assert "parts of the batch" in run.stdout and "up to rounding" in run.stdout, run.stdout
again, report = compile_with(f"--budget={budgets[0]}", f"--split={split['parts']}:{split['chains']}")
assert again.returncode == 0 or int(re.search(r"try --budget=(\d+)", again.stderr).group(1)) > budgets[0]
for budget in [parts - 1, parts // 2]:
    run, _ = compile_with(f"--budget={budget}")
    assert run.returncode == 3, (budget, run)
verified = subprocess.run(["gc-run", model, "--data=synthetic", "--steps=1", "--no-calibrate", "--verify",
                           f"--budget={budgets[-1]}", *(flag for flag in flags if flag != "--evaluate")],
                          capture_output=True, text=True)
assert "identical   yes, every bit" in verified.stdout, verified
print(f"{points} budgets from {parts} below {whole} met in parts")
