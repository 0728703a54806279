"""Stands in for gc-gen, gc-compile and gc-run: answers in their form at once, or misbehaves as FAKE in the environment says.

FAKE holds words: `sgd-for-adam` (trains with another optimizer than asked), `no-state` (Adam without state),
`forgets` (the last step recomputes nothing), `fails=NAME` (gc-run fails where the plan's name holds NAME), `slow`
(gc-run takes a minute), `slow-compiler` (gc-compile does), `disk` (gc-compile finds the disk full).
"""
import csv
import json
import os
import sys
import time

FAKE = os.environ.get("FAKE", "").split()
PEAK, LEAST = 100_000_000, 40_000_000


def flags_of(words):
    return {name: value for name, _, value in (word.partition("=") for word in words)}


def batch_of(model):
    with open(model) as file:
        return int(flags_of(file.read().split()).get("--batch", 4))


def compile_model(words, flags):
    if flags.get("--target") == "rtx3061":
        sys.exit("gc-compile: --target=rtx3061 is not known; there are others")
    if "slow-compiler" in FAKE:
        time.sleep(60)
    if "disk" in FAKE:
        sys.exit("gc-compile: writing 'x.plan' failed: No space left on device")
    if flags.get("--remat") == "checkpoints:16":
        print("gc-compile: --remat=checkpoints:16: the step saves only 15 values; use at most that many checkpoints",
              file=sys.stderr)
        sys.exit(2)
    budget = int(flags.get("--budget", 0))
    if 0 < budget < LEAST:
        print(f"gc-compile: the budget of {budget} bytes (0.0 MiB) cannot be met: this step needs at least {LEAST} bytes\n"
              f"no plan in this order of ops can need less than {LEAST - 1} bytes (38.1 MiB)\n"
              f"try --budget={LEAST}, a smaller batch or --accumulate", file=sys.stderr)
        sys.exit(3)
    if "--pareto" in flags:
        with open(flags["--csv"], "w", newline="") as file:
            table = csv.writer(file)
            table.writerow(["budget_bytes", "peak_bytes", "step_seconds_predicted", "recompute_fraction",
                            "time_lower_bound", "recomputed_ops", "micro_batches", "split_parts", "policy"])
            table.writerow([PEAK, PEAK, 0.01, 0, 0, 0, 1, 1, "budget"])
            table.writerow([LEAST, LEAST, 0.012, 0.2, 0.2, 3, 1, 1, "budget"])
            if "--remat" in flags:
                table.writerow([70_000_000, 70_000_000, 0.011, 0.1, 0, 2, 1, 1, flags["--remat"]])
        return
    adam = flags.get("--optimizer") == "adam"
    again = 3 if budget or "--remat" in flags else 0
    peak = min(budget or PEAK, PEAK) if "--remat" not in flags else 70_000_000
    memory = {key + "_bytes": 1 for key in ("lower_bound", "weights", "gradients", "activations", "workspace", "input")}
    memory.update(predicted_peak_bytes=peak, optimizer_bytes=1000 if adam and "no-state" not in FAKE else 0)
    report = {"memory": memory, "parameters": 7, "micro_batches": int(flags.get("--accumulate", "1").replace("auto", "2")),
              "batch": batch_of(words[0]), "split": {"parts": 1}, "compile_seconds": 0.1, "compiler": {
                  "timeline": {"before": {"live": [1, PEAK, 1]}, "after": {"live": [1, peak, 1]}},
                  "saved": [{"op": "conv2d", "name": "a", "result": 0, "bytes": 10, "kept": True, "executions": 1,
                             "seconds": 0.1, "repeatable": True, "at_peak": False}]},
              "remat": {"retained": 9, "recomputed": again, "recompute_seconds_predicted": 0.1,
                        "recompute_fraction": 0.1, "time_lower_bound": None, "gap": None},
              "prediction": {"step_seconds": 0.01, "rates_from": "built-in"}}
    with open(flags["--report"], "w") as file:
        json.dump(report, file)
    with open(words[words.index("-o") + 1], "w") as file:
        json.dump({**report, "optimizer": flags.get("--optimizer")}, file)


def steps_of_epoch(plan, flags):
    """As gc-run counts them: with accumulation an epoch ends with a window of whole micro-batches."""
    samples, batch, parts = int(flags.get("--limit", 60000)), plan["batch"], plan["micro_batches"]
    return samples // batch if parts == 1 else -(-(samples // (batch // parts)) // parts)


def run(words, flags):
    if words[0].endswith(".mlir"):  # the look at the data before anything is trained
        return
    if any(word.startswith("fails=") and word[6:] in os.path.basename(words[0]) for word in FAKE):
        print("warning: something\ngc-run: the device has gone", file=sys.stderr)
        sys.exit(4)
    if "slow" in FAKE:
        time.sleep(60)
    with open(words[0]) as file:
        plan = json.load(file)
    steps = int(flags["--steps"]) if "--steps" in flags else int(flags["--epochs"]) * steps_of_epoch(plan, flags)
    memory = {**plan["memory"], "measured_peak_bytes": plan["memory"]["predicted_peak_bytes"] + 100, "library_bytes": 5}
    optimizer = "sgd" if "sgd-for-adam" in FAKE else plan["optimizer"]
    with open(flags["--report"], "w") as file:
        json.dump({**plan, "memory": memory, "optimizer": optimizer + " lr 0.001", "interrupted": False, "steps": steps,
                   "step_seconds": {"all": [0.02] * steps}, "loss": [2.0] * steps, "nvml": None,
                   "monitor": {"cpus_mean": 1.5, "cpus_max": 2.0, "rss_max_bytes": 9, "rss_mean_bytes": 8}}, file)
    again = 0 if "forgets" in FAKE else plan["remat"]["recomputed"]
    with open(flags["--trace"], "w") as file:
        json.dump({"traceEvents": [{"cat": "recomputed", "dur": 100.0, "tid": 2}] * again}, file)
    if "--profile" in flags:
        with open(flags["--profile"], "w") as file:
            json.dump({"ops": [{"op": "conv2d", "name": "a", "seconds": 0.1, "recomputed": False}]}, file)


def main():
    name, words = os.path.basename(sys.argv[0]), sys.argv[1:]
    flags = flags_of(words)
    if "--version" in flags:
        print(name, "0 (a fake)")
    elif name == "gc-gen":
        with open(words[words.index("-o") + 1], "w") as file:
            file.write("\n".join(words))
    elif name == "gc-compile":
        compile_model(words, flags)
    else:
        run(words, flags)


main()
