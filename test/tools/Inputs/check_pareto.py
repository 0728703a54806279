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
    slower = seconds / float(rows[0]["step_seconds_predicted"]) - 1
    assert slower >= float(row["time_lower_bound"]) - 1e-7, f"faster than a proven bound: {row}"
    previous = seconds
assert int(rows[-1]["peak_bytes"]) < int(rows[0]["peak_bytes"]), "nothing was saved"
print(len(rows), "points hold")
