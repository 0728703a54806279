"""report.py run|compile FILE.json: every promised key is there, and the numbers agree with each other.

With a second file: the losses of both runs, in a row, equal those of a third (report.py joins A B ALL).
"""
import json
import sys

SHARED = {"model": str, "device": str, "batch": int, "micro_batches": int, "parameters": int,
          "trainable_parameters": int,
          "version": str, "command_line": str, "host": str, "cpu": str, "configuration": dict,
          "compile_seconds": float, "memory": dict, "remat": dict, "split": dict, "precision": dict,
          "prediction": dict}
RUN = {**SHARED, "threads": int, "steps": int, "loss": list, "accuracy": (float, type(None)),
       "test_accuracy": (float, type(None)), "step_seconds": dict, "samples_per_second": float,
       "verify": dict, "learning_rate": list, "schedule": str, "validation": list, "best": (dict, type(None)),
       "early_stop": (dict, type(None)), "classification": dict, "checkpoint": (dict, type(None)),
       "load_partial": (dict, type(None))}
MEMORY = ["predicted_peak_bytes", "lower_bound_bytes", "weights_bytes", "gradients_bytes",
          "optimizer_bytes", "activations_bytes", "workspace_bytes", "input_bytes", "arena_bytes",
          "fragmentation_bytes", "master_bytes"]
RUN_MEMORY = MEMORY + ["measured_peak_bytes", "allocations_in_step", "library_bytes",
                       "process_rss_before_bytes", "process_rss_peak_bytes"]
REMAT = ["policy", "retained", "recomputed", "recompute_seconds_predicted", "recompute_fraction"]
RUN_REMAT = REMAT + ["budget_bytes", "time_lower_bound", "gap"]


def load(path):
    with open(path) as file:
        return json.load(file)


def check_memory(m):
    parts = ["weights", "gradients", "optimizer", "activations", "workspace", "input",
             "fragmentation"]
    assert sum(m[p + "_bytes"] for p in parts) == m["arena_bytes"], "the parts are not the whole"
    assert m["predicted_peak_bytes"] == m["arena_bytes"]
    assert 0 < m["lower_bound_bytes"] <= m["arena_bytes"]


def check(kind, report):
    run = kind == "run"
    for key, types in (RUN if run else SHARED).items():
        assert key in report, f"no {key}"
        assert isinstance(report[key], types), f"{key} is {report[key]!r}"
    for key in RUN_MEMORY if run else MEMORY:
        assert isinstance(report["memory"].get(key), int), f"memory.{key}"
    for key in RUN_REMAT if run else REMAT:
        assert key in report["remat"], f"no remat.{key}"
    assert report["split"]["parts"] >= 1 and isinstance(report["split"]["chains"], str), "split"
    assert set(report["precision"]) == {"products", "saved", "master"}, "precision"
    check_memory(report["memory"])
    assert report["prediction"]["step_seconds"] > 0 and report["prediction"]["rates_from"]
    if not run:
        saved = [value["kept"] for value in report["compiler"]["saved"]]
        assert (saved.count(True), saved.count(False)) == (report["remat"]["retained"], report["remat"]["recomputed"])
        assert report["kernels"] > 0 and report["plan_bytes"] > 0 and report["commands"]["micro_batch"] > 0
        return
    assert {"identical", "compared"} <= set(report["verify"])
    seconds = report["step_seconds"]
    assert len(report["loss"]) == len(report["learning_rate"]) == len(seconds["all"]) == report["steps"]
    assert seconds["min"] == min(seconds["all"]) <= seconds["median"]
    memory = report["memory"]
    assert memory["allocations_in_step"] == 0
    # Within 2 % and 8 MiB, as the README promises.
    difference = abs(memory["measured_peak_bytes"] - memory["predicted_peak_bytes"])
    assert difference <= 0.02 * memory["predicted_peak_bytes"] + (8 << 20), difference


if sys.argv[1] == "joins":
    first, second, whole = (load(path)["loss"] for path in sys.argv[2:5])
    assert first and second and first + second == whole, f"{first} and {second} are not {whole}"
else:
    check(sys.argv[1], load(sys.argv[2]))
