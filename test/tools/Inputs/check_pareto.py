"""check_pareto.py TABLE.csv: what a table of budgets promises. Prints the number of points."""
import csv
import sys

rows = list(csv.DictReader(open(sys.argv[1])))
previous = 0.0
for row in rows:
    budget, peak = int(row["budget_bytes"]), int(row["peak_bytes"])
    seconds = float(row["step_seconds_predicted"])
    assert 0 < peak <= budget, row
    assert seconds >= previous, f"a smaller budget predicts less time: {row}"
    assert float(row["recompute_fraction"]) >= float(row["time_lower_bound"]) - 1e-9 or int(row["micro_batches"]) > 1, row
    previous = seconds
assert int(rows[-1]["peak_bytes"]) < int(rows[0]["peak_bytes"]), "nothing was saved"
print(len(rows), "points hold")
