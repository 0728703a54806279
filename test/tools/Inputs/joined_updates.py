"""joined_updates.py PROFILE TRACE KIND COUNT: the profile has COUNT ops of KIND with times of their own,
and the trace has them in one event that names them all."""
import json
import sys

profile_file, trace_file, kind, count = sys.argv[1:]
ops = [op for op in json.load(open(profile_file))["ops"] if op["name"].startswith(kind + "@")]
assert len(ops) == int(count), ops
assert len({op["op"] for op in ops}) == len(ops), "each has its own number"
assert len({op["implementation"] for op in ops}) == 1, "one kernel"
rates = [op["bytes_moved"] / op["median_seconds"] for op in ops]
assert max(rates) <= 1.001 * min(rates), "time is shared out by bytes"

events = [e for e in json.load(open(trace_file))["traceEvents"] if "ops" in e.get("args", {})]
assert len(events) == 1, events
assert sorted(events[0]["args"]["ops"]) == sorted(op["name"] for op in ops), events
assert events[0]["name"] == f"{events[0]['args']['ops'][0]} and {len(ops) - 1} more"
