"""saved.py SCHEMA PLAN REPORT EXPLAINED: what a compile report says of saved values is what the plan does.

EXPLAINED is what `gc-compile --explain` printed. The counts are those of `remat`, the plan runs each op as often as it is
said to, buffers lead to their entries, and what is explained as recomputed is not kept."""
import json
import re
import sys

from plan_json import plan_json

KEYS = {"op": int, "name": str, "result": int, "bytes": int, "kept": bool, "executions": int, "seconds": float,
        "repeatable": bool, "at_peak": bool}


def executions_of(commands):
    """How often each op runs, and the places of its commands: an op may be several of them, one behind the other."""
    times, places, last = {}, {}, None
    for place, command in enumerate(commands):
        op = command["op"]
        if (op, command["recomputed"]) != last:
            times[op] = times.get(op, 0) + 1
        last = op, command["recomputed"]
        places.setdefault(op, []).append(place)
    return times, places


def main():
    schema, plan_path, report_path, explained = sys.argv[1:]
    plan = plan_json(schema, plan_path)
    with open(report_path) as file:
        report = json.load(file)["compiler"]
    saved, remat, before = report["saved"], report["remat"], report["timeline"]["before"]
    assert json.loads(plan["report"])["saved"] == saved, "the plan says otherwise"
    for value in saved:
        assert {key: type(value[key]) for key in value} == KEYS, value
        assert value["bytes"] > 0 and value["seconds"] > 0 and value["repeatable"], value
        assert value["kept"] == (value["executions"] == 1), value
    assert len({(value["op"], value["result"]) for value in saved}) == len(saved), "a value is there twice"
    recomputed = [value for value in saved if not value["kept"]]
    assert (len(saved) - len(recomputed), len(recomputed)) == (remat["retained"], remat["recomputed"])

    # Ops are numbered in program order, and commands have these numbers.
    assert [value["op"] for value in saved] == sorted(value["op"] for value in saved), "not in program order"
    commands = plan["micro_batch"]["commands"]
    times, places = executions_of(commands)
    starts = {}  # of buffers: where they begin to live
    for buffer in plan["buffers"]:
        if buffer["part_of"] < 0 and not buffer["evaluate"] and buffer["kind"] == "Activation":
            starts.setdefault(buffer["first_command"], []).append(buffer["bytes"])
    owned = 0
    for value in saved:
        assert times[value["op"]] == value["executions"], value
        mine = [commands[place] for place in places[value["op"]]]
        assert {command["name"] for command in mine} == {value["name"]}, value
        assert abs(mine[0]["seconds_predicted"] - value["seconds"]) <= 1e-12, value  # flatc writes 12 digits
        owned += any(value["bytes"] in starts.get(place, []) for place in places[value["op"]])
    assert owned >= 0.8 * len(saved), f"buffers of {owned} of {len(saved)} values; the others lie in those of operands"

    # Each op's executions are counted once, whichever of its results are saved.
    paid = {value["op"]: (value["executions"] - 1) * value["seconds"] for value in saved}
    again = remat["recompute_seconds_predicted"]
    assert sum(paid.values()) * plan["micro_batches"] <= again * (1 + 1e-9), (sum(paid.values()), again)
    with open(explained) as file:
        rows = re.findall(r"^ +[0-9.]+ MiB +[0-9.]+ ms +(\d+) +(\S+)$", file.read(), re.MULTILINE)
    told = {(name, int(count)) for count, name in rows}
    for value in recomputed:
        assert (value["name"], value["executions"] - 1) in told, value
    for value in saved:
        assert not value["kept"] or value["name"] not in {name for name, _ in told} or [
            other for other in recomputed if other["name"] == value["name"]], value

    # What is alive at the peak of the step that recomputes nothing is among what the timeline names there, but for what was
    # written over an operand and lies there under the operand's name.
    alive = {entry["name"] for entry in before["alive_at_peak"] if entry["kind"] == "activation"}
    at_peak = [value for value in saved if value["at_peak"]]
    assert at_peak and len([value for value in at_peak if value["name"] not in alive]) <= 0.2 * len(at_peak)
    assert sum(value["bytes"] for value in at_peak) <= before["peak_bytes"]
    print(f"{len(saved)} saved values, {len(recomputed)} recomputed, {len(at_peak)} alive at the peak, "
          f"{len(json.dumps(saved, separators=(',', ':'))) // max(1, len(saved))} bytes each")


main()
