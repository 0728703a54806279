"""The columns of results.csv, the same for all studies: first what identifies a row, last what was measured."""

IDENTITY = ["study", "setting", "device", "how", "why", "size", "machine", "cores", "memory_bytes", "versions",
            "commit", "date", "load_average"]
ASKED = ["network", "image", "batch", "micro_batch", "accumulate", "optimizer", "policy", "budget_asked_bytes",
         "budget_bytes"]
PREDICTED = ["parameters", "micro_batches", "split_parts", "predicted_peak_bytes", "lower_bound_bytes",
             "weights_bytes", "gradients_bytes", "optimizer_bytes", "activations_bytes", "workspace_bytes",
             "input_bytes", "retained", "recomputed", "retained_bytes", "saved_bytes",
             "recompute_seconds_predicted", "recompute_fraction", "time_lower_bound", "gap", "least_bytes",
             "bound_bytes", "predicted_step_seconds", "rates_from", "compile_seconds"]
MEASURED = ["measured_peak_bytes", "library_bytes", "rss_max_bytes", "rss_mean_bytes", "utilization_mean",
            "utilization_max", "steps", "timed_steps", "step_seconds", "step_seconds_min", "samples_per_second",
            "loss_first", "loss_last", "recomputed_in_last_step", "recompute_seconds", "epoch_seconds",
            "epoch_from", "second_epoch_ratio", "took_seconds"]
COLUMNS = IDENTITY + ASKED + PREDICTED + MEASURED

# Cells that are words; every other cell is a number or empty.
WORDS = {"study", "setting", "device", "how", "why", "size", "machine", "versions", "commit", "date", "network",
         "accumulate", "optimizer", "policy", "rates_from", "epoch_from"}

MEASURED_ROW, PREDICTED_ROW, FAILED_ROW, NO_FIT_ROW = "measured", "predicted", "failed", "does not fit"
NOT_RUN_ROW = "not run"  # the time was over before the setting was even predicted
HOW = (MEASURED_ROW, PREDICTED_ROW, NO_FIT_ROW, NOT_RUN_ROW, FAILED_ROW)
