"""what_if.py ROWS.json ROWS.csv MODEL [FLAGS...]: each row of --what-if is what gc-compile says with these settings."""
import csv
import json
import os
import re
import subprocess
import sys
import tempfile

with open(sys.argv[1]) as file:
    rows = json.load(file)["rows"]
with open(sys.argv[2], newline="") as file:
    table = list(csv.DictReader(file))
model, flags = sys.argv[3], sys.argv[4:]
assert len(rows) == len(table) > 0, (len(rows), len(table))
for row, line in zip(rows, table):
    settings = row["settings"]
    assert all(line[key] == value for key, value in settings.items()), (row, line)
    with tempfile.TemporaryDirectory() as folder:
        rewritten, report = os.path.join(folder, "model.mlir"), os.path.join(folder, "report.json")
        subprocess.run(["gc-opt", model, f"--gc-batch=size={row['batch']}", "-o", rewritten], check=True)
        own = [f"--{key}={value}" for key, value in settings.items()
               if key not in ("batch", "precision") and (key, value) != ("budget", "none")]
        run = subprocess.run(["gc-compile", rewritten, f"--report={report}", *flags, *own], stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE, text=True)
        assert row["feasible"] == (run.returncode == 0) == (line["feasible"] == "yes"), (row, run.stderr)
        if run.returncode == 3:
            needed, lowest = re.findall(r"(?:needs at least|need less than) (\d+) bytes", run.stderr)
            assert [row["smallest_bytes"], row["lower_bound_bytes"]] == [int(needed), int(lowest)], (row, run.stderr)
            assert [line["smallest_bytes"], line["lower_bound_bytes"]] == [needed, lowest], line
            continue
        if run.returncode != 0:
            assert line["reason"], line
            continue
        with open(report) as file:
            plan = json.load(file)
    expected = {"peak_bytes": plan["memory"]["arena_bytes"], "micro_batches": plan["micro_batches"],
                "step_seconds_predicted": plan["prediction"]["step_seconds"],
                "samples_per_second_predicted": plan["batch"] / plan["prediction"]["step_seconds"],
                "recomputed": plan["remat"]["recomputed"], "retained": plan["remat"]["retained"],
                "recompute_fraction": plan["remat"]["recompute_fraction"], "split_parts": plan["split"]["parts"],
                "input_slots": plan["compiler"]["input_slots"]}
    for key, value in expected.items():
        assert row[key] == value, (key, row, value)
        assert abs(float(line[key]) - value) <= 1e-8 * abs(value), (key, line, value)
