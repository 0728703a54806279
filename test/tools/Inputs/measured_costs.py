"""measured_costs.py PROFILE.json PLAIN.json BUDGET.json: the reports' predictions are the profile's seconds."""
import json
import sys

profile, plain, budget = (json.load(open(path)) for path in sys.argv[1:4])
measured = sum(op["median_seconds"] for op in profile["ops"] if op["list"] == "micro_batch")


def near(a, b):
    return abs(a - b) <= 1e-6 * max(abs(a), abs(b))


assert near(plain["compiler"]["step_seconds_predicted"], measured), (plain["compiler"], measured)
extra = budget["remat"]["recompute_seconds_predicted"]
assert budget["remat"]["recomputed"] > 0 and extra > 0, budget["remat"]
wait = budget["compiler"]["input_seconds_predicted"]
predicted = budget["compiler"]["step_seconds_predicted"]
assert near(predicted, measured + extra + wait), (predicted, measured, extra, wait)
assert near(budget["remat"]["recompute_fraction"], extra / measured), budget["remat"]
