"""Rows from reports: what was asked, what the compiler predicted, what a run measured; and what refuses a run.

The published grid had rows called "Adam" that trained with SGD, and second epochs that ran in evaluation mode with
recomputation off. So a row is measured only where the run's own report says the optimizer, its state is there, and the
last step of all (the second epoch's, where there are two) computed again what the plan says.
"""

import math
import statistics

from .columns import FAILED_ROW, MEASURED_ROW

KEEP_STATE = {"adam", "adamw"}  # optimizers that keep state


def asked(setting):
    return {"network": setting.network, "image": setting.image or None, "batch": setting.batch,
            "micro_batch": setting.micro_batch or None, "accumulate": setting.accumulate,
            "optimizer": setting.optimizer, "policy": setting.policy}


def predicted(compiled, epoch_samples=0):
    budgets = {"budget_asked_bytes": compiled.asked_bytes or None, "budget_bytes": compiled.budget_bytes or None,
               "least_bytes": compiled.least_bytes or None, "bound_bytes": compiled.bound_bytes or None}
    if compiled.failed:
        return budgets
    report = compiled.report
    memory, remat = report["memory"], report["remat"]
    row = {key: memory[key] for key in ("predicted_peak_bytes", "lower_bound_bytes", "weights_bytes",
                                        "gradients_bytes", "optimizer_bytes", "activations_bytes",
                                        "workspace_bytes", "input_bytes")}
    row.update({key: remat[key] for key in ("retained", "recomputed", "recompute_seconds_predicted",
                                            "recompute_fraction", "time_lower_bound", "gap")})
    row.update({"parameters": report["parameters"], "micro_batches": report["micro_batches"],
                "split_parts": report["split"]["parts"], "compile_seconds": report["compile_seconds"],
                "predicted_step_seconds": compiled.step_seconds,
                "rates_from": report["prediction"]["rates_from"]})
    saved = (report["compiler"] or {}).get("saved", report.get("saved"))
    if saved is not None:
        row["retained_bytes"] = sum(value["bytes"] for value in saved if value["kept"])
        row["saved_bytes"] = sum(value["bytes"] for value in saved if not value["kept"])
    if epoch_samples:
        row["epoch_seconds"] = compiled.step_seconds * epoch_samples / report["batch"]
        row["epoch_from"] = "prediction"
    return {**budgets, **row}


def outlined(point, policy, samples_in_step, epoch_samples=0):
    """Cells from a row of gc-compile's table of budgets."""
    seconds = float(point["step_seconds_predicted"])
    row = {"predicted_peak_bytes": int(point["peak_bytes"]), "predicted_step_seconds": seconds,
           "recompute_fraction": float(point["recompute_fraction"]), "micro_batches": int(point["micro_batches"]),
           "split_parts": int(point["split_parts"])}
    if policy == "budget":
        row.update({"budget_bytes": int(point["budget_bytes"]), "least_bytes": int(point["budget_bytes"])})
    if epoch_samples:
        row.update({"epoch_seconds": seconds * epoch_samples / samples_in_step, "epoch_from": "prediction"})
    return row


def utilization(report, cores):
    """Mean and maximum over the samples of the monitor thread, in per cent: of the GPU, or of all cores."""
    if report.get("nvml"):
        gpu = report["nvml"].get("utilization_percent") or {}
        return gpu.get("mean"), gpu.get("max")
    monitor = report["monitor"]
    return 100 * monitor["cpus_mean"] / cores, 100 * monitor["cpus_max"] / cores


def recomputed_in_last_step(events):
    return [event for event in events if event.get("cat") == "recomputed"]


def doubts(setting, compiled, report, again, steps):
    """Why a run is not what the setting asks for; empty where it is."""
    memory, remat = report["memory"], report["remat"]
    if report["optimizer"].split()[0] != setting.optimizer:  # such as "adam lr 0.001"
        return f"asked for {setting.optimizer}, and the run's report says '{report['optimizer']}'"
    if setting.optimizer in KEEP_STATE and not memory["optimizer_bytes"] > 0:
        return f"{setting.optimizer} without a byte of optimizer state"
    if len(report["step_seconds"]["all"]) != steps or report["interrupted"]:
        return f"{len(report['step_seconds']['all'])} steps where {steps} were asked for"
    if not all(loss is not None and math.isfinite(loss) for loss in report["loss"]):
        return "a loss is not a number"
    if remat["recomputed"] != compiled.report["remat"]["recomputed"]:
        return (f"the plan recomputes {compiled.report['remat']['recomputed']} values, the run's report says "
                f"{remat['recomputed']}")
    if bool(again) != bool(remat["recomputed"]):
        return f"the plan recomputes {remat['recomputed']} values, the last step computed {len(again)} ops again"
    if memory["measured_peak_bytes"] <= 0:
        return "the report has no measured peak"
    return ""


def epoch_extent(setting, samples):
    """The steps of an epoch over so many samples, and the samples that gc-run trains on in it. What is left after the
    last whole batch is dropped; with accumulation, what is left after its last whole micro-batch."""
    if not setting.micro_batch or setting.micro_batch == setting.batch:
        steps = samples // setting.batch
        return steps, steps * setting.batch
    micro_batches = samples // setting.micro_batch
    return -(-micro_batches * setting.micro_batch // setting.batch), micro_batches * setting.micro_batch


def measured(setting, compiled, report, events, cores, steps, epoch_samples=0, epochs=0, samples=0):
    """The cells of a run, or a row that failed and says why. `samples` are those asked for in each of `epochs`, where
    whole epochs were trained."""
    again = recomputed_in_last_step(events)
    doubt = doubts(setting, compiled, report, again, steps)
    if doubt:
        return {"how": FAILED_ROW, "why": doubt}
    memory, monitor = report["memory"], report["monitor"]
    every = report["step_seconds"]["all"]
    timed = every[1:]  # the first step touches the arena's pages
    median = statistics.median(timed)
    mean_use, most_use = utilization(report, cores)
    # The trace has the last micro-batch's execution of each command.
    paid = sum(event["dur"] * (report["micro_batches"] if event["tid"] == 2 else 1) for event in again) * 1e-6
    row = {"how": MEASURED_ROW, "measured_peak_bytes": memory["measured_peak_bytes"],
           "library_bytes": memory["library_bytes"], "rss_max_bytes": monitor["rss_max_bytes"],
           "rss_mean_bytes": monitor["rss_mean_bytes"], "utilization_mean": mean_use,
           "utilization_max": most_use, "steps": report["steps"], "timed_steps": len(timed),
           "step_seconds": median, "step_seconds_min": min(timed), "samples_per_second": report["batch"] / median,
           "loss_first": report["loss"][0], "loss_last": report["loss"][-1],
           "recomputed_in_last_step": len(again), "recompute_seconds": paid}
    if epochs:
        first, second = every[:steps // 2], every[steps // 2:]
        _, trained = epoch_extent(setting, samples)
        row.update({"epoch_seconds": sum(every) / epochs * epoch_samples / trained,
                    "epoch_from": "epochs" if samples == epoch_samples else f"epochs of {trained} images",
                    "second_epoch_ratio": statistics.median(second) / statistics.median(first)})
    elif epoch_samples:
        row.update({"epoch_seconds": median * epoch_samples / report["batch"], "epoch_from": "steps"})
    return row
