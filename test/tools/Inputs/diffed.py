"""diffed.py REPORT A B: the JSON of `gc-diff A.plan B.plan` says what the compile reports A and B say."""
import json
import sys

KEYS = {"a": dict, "b": dict, "identical": bool, "same_model": bool, "settings": list, "difference": dict, "values": dict,
        "alive_at_peak": list, "run_otherwise": list, "notes": list}
PLAN = {"path", "model", "parameters", "trainable_parameters", "device", "target", "library", "threads", "precision", "batch", "micro_batches", "split",
        "input_buffers", "optimizer", "memory", "remat", "prediction", "commands", "kernels", "library_graphs", "keeps_gradients",
        "plan_bytes", "peak_op"}
SAVED = {"op", "bytes", "kept", "executions", "seconds", "seconds_paid", "at_peak"}


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def main():
    report, compiled = load(sys.argv[1]), [load(path) for path in sys.argv[2:]]
    assert {key: type(report[key]) for key in KEYS} == KEYS, report.keys()
    for side, own in zip("ab", compiled):
        assert set(report[side]) == PLAN, set(report[side]) ^ PLAN
        for key in ("model", "parameters", "device", "batch", "micro_batches", "commands", "kernels", "split"):
            assert report[side][key] == own[key], key
        assert report[side]["memory"]["arena_bytes"] == own["memory"]["arena_bytes"]
        assert report[side]["prediction"]["step_seconds"] == own["prediction"]["step_seconds"]
        assert report[side]["peak_op"] == own["compiler"]["timeline"]["after"]["peak_op"]
    peaks = [own["memory"]["arena_bytes"] for own in compiled]
    assert report["difference"]["peak_bytes"] == peaks[1] - peaks[0]

    # Each saved value of a plan is in exactly one list, with what its own report says.
    values = report["values"]
    both = values["recomputed_in_a"] + values["recomputed_in_b"] + values["recomputed_in_both"]
    for side, own in zip("ab", compiled):
        saved = {(value["op"], value["result"]): value for value in own["compiler"]["saved"]}
        told = [{**value[side], "name": value["name"], "result": value["result"]} for value in both] + values["only_in_" + side]
        assert len(told) + values["kept_in_both"] == len(saved), (side, len(told), values["kept_in_both"], len(saved))
        for value in told:
            assert SAVED <= set(value), value
            theirs = saved[value["op"], value["result"]]
            assert all(value[key] == theirs[key] for key in SAVED - {"seconds_paid"}), (value, theirs)
            paid = theirs["seconds"] * (theirs["executions"] - 1) * own["micro_batches"]
            assert abs(value["seconds_paid"] - paid) <= 1e-12, value
    assert all(value["a"]["kept"] and not value["b"]["kept"] for value in values["recomputed_in_b"])
    assert all(value["b"]["kept"] and not value["a"]["kept"] for value in values["recomputed_in_a"])
    sizes = [max(value["a"]["bytes"], value["b"]["bytes"]) for value in values["recomputed_in_b"]]
    assert sizes == sorted(sizes, reverse=True)

    # What is alive at the peaks: the bytes are those of the timelines, the largest differences come first.
    for side, own in zip("ab", compiled):
        alive = own["compiler"]["timeline"]["after"]["alive_at_peak"]
        assert sum(entry[side + "_bytes"] for entry in report["alive_at_peak"]) == sum(entry["bytes"] for entry in alive)
    distances = [abs(entry["a_bytes"] - entry["b_bytes"]) for entry in report["alive_at_peak"]]
    assert distances == sorted(distances, reverse=True)
    print(f"agrees: {', '.join(setting['name'] for setting in report['settings']) or 'nothing'} differ; "
          f"{len(values['recomputed_in_a'])} and {len(values['recomputed_in_b'])} recomputed in one, "
          f"{values['kept_in_both']} kept in both, {len(values['only_in_a'])} and {len(values['only_in_b'])} in one only")


main()
