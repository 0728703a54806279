"""max_batch.py FOUND.json MODEL BUDGET [FLAGS of gc-compile...]: gc-compile says the same of each answer of --max-batch.

Of the model that --gc-batch makes, the batch that was found has the peak, the time and the recomputation that the
answer tells and is within the budget, and the next batch is not, by the bytes that the answer tells.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

found, model, budget, flags = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:]
with open(found) as file:
    answer = json.load(file)
assert answer["budget"]["bytes"] == budget, answer["budget"]


def compiled(batch, own):
    with tempfile.TemporaryDirectory() as folder:
        rewritten, report = os.path.join(folder, "model.mlir"), os.path.join(folder, "report.json")
        subprocess.run(["gc-opt", model, f"--gc-batch=size={batch}", "-o", rewritten], check=True)
        run = subprocess.run(["gc-compile", rewritten, f"--report={report}", *flags, *own], stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE, text=True)
        if run.returncode == 0:
            with open(report) as file:
                return json.load(file), ""
        assert run.returncode == 3, run.stderr
        return None, run.stderr


counted = 0
for way in answer["ways"]:
    largest, following = way["largest"], way["next"]
    if not way["counted"]:
        assert largest is None and way["note"], way
        continue
    own = [] if way["way"] == "alone" else [f"--budget={budget}"]
    # Where nothing fits, the next batch is one sample, in each micro-batch.
    micro_batches = (largest or {}).get("micro_batches", following["batch"])
    if micro_batches > 1:
        own.append(f"--accumulate={micro_batches}")
    if largest:
        report, _ = compiled(largest["batch"], own)
        assert report["batch"] == largest["batch"] and report["memory"]["arena_bytes"] == largest["peak_bytes"], way
        assert largest["peak_bytes"] <= budget, way
        assert report["prediction"]["step_seconds"] == largest["step_seconds_predicted"], way
        assert report["remat"]["recomputed"] == largest["recomputed"], way
        assert report["remat"]["retained"] == largest["retained"], way
        assert following["batch"] == largest["batch"] + micro_batches, way
    report, refusal = compiled(following["batch"], own)
    if way["way"] == "alone":
        assert report["memory"]["arena_bytes"] == following["smallest_bytes"] > budget, way
    else:
        needed, lowest = re.findall(r"(?:needs at least|need less than) (\d+) bytes", refusal)
        assert int(needed) == following["smallest_bytes"] > budget, (way, refusal)
        assert int(lowest) == following["lower_bound_bytes"] <= int(needed), (way, refusal)
    counted += 1
assert counted >= 2, answer
