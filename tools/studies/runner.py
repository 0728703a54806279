"""Runs a study: predicts every setting, measures those that the time allows, and leaves a row for each.

Predictions are kept in predictions.csv, rows of the study in results.csv; both are appended to as they come, so that
a killed study goes on where it was.
"""

import datetime
import math
import os
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor, as_completed

from . import allowance, details, measurement
from .columns import FAILED_ROW, NO_FIT_ROW, NOT_RUN_ROW, PREDICTED_ROW
from .gc_tools import BUDGET_MISSED
from .machine import free_memory
from .progress import duration
from .store import latest

COMPILE_LIMIT = 1800  # seconds
SPARE_BYTES = 400 << 20  # for the tool itself and its libraries


class Runner:
    def __init__(self, study, settings, tools, results, predictions, progress, size, origin, options):
        self.study, self.settings, self.tools = study, settings, tools
        self.results, self.predictions, self.progress = results, predictions, progress
        self.size, self.origin, self.options = size, origin, options
        self.device = origin["device"]
        self.jobs = min(os.cpu_count() or 1, 4)
        # What an earlier start of this size used up counts.
        used = sum(row["took_seconds"] or 0 for row in results.rows if row["size"] == size.name)
        used += sum(row["took_seconds"] or 0 for row in predictions.rows if row["size"] == size.name) / self.jobs
        self.began, self.used = time.monotonic(), used
        self.kept = {}  # by name: what was compiled in this run, its plan in the work folder

    def run(self):
        done = latest(self.results.rows, self.device)
        open_settings = [s for s in self.settings if s.name not in done
                         or not allowance.is_done(done[s.name], self.size, self.options.retry)]
        if not open_settings:
            self.progress.say("every setting has its row already; nothing to run")
            return
        self.predict(open_settings)
        known = self.predicted()
        rest = []
        for setting in open_settings:
            row = known.get(setting.name)
            if row is None:
                self.append(setting, {**self.named(setting), "how": NOT_RUN_ROW,
                                      "why": f"a {self.size.name} study had no time left to predict it"})
            elif row["how"] == PREDICTED_ROW:
                rest.append(setting)
            else:
                self.append(setting, {"how": row["how"], "why": row["why"]})
        if self.options.measures:
            self.measure(rest)
        else:
            for setting in rest:
                self.append(setting, {"how": PREDICTED_ROW,
                                      "why": join(known[setting.name]["why"], self.options.why_not_measured)})

    def left(self):
        return self.size.seconds - allowance.DRAWING_SECONDS - self.used - (time.monotonic() - self.began)

    # Rows.

    def common(self):
        return {**self.origin, "size": self.size.name, "load_average": round(os.getloadavg()[0], 2),
                "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")}

    def append(self, setting, cells, is_new=False):
        """A row of results.csv: what was predicted for the setting, and `cells`. Unless the setting was compiled or run
        anew, the row names the commit and versions that predicted it."""
        prediction = self.predicted().get(setting.name, {})
        told = {key: value for key, value in prediction.items() if value not in (None, "")}
        common = self.common()
        if prediction and not is_new:
            common.update(commit=prediction["commit"], versions=prediction["versions"])
        self.results.append({**told, "took_seconds": None, "compile_seconds": prediction.get("compile_seconds"),
                             **common, **cells})

    # Predictions.

    def predicted(self):
        """The predictions that stand for a study of this size, by name."""
        known = latest(self.predictions.rows, self.device)
        return {name: row for name, row in known.items() if allowance.stands(row, self.size)}

    def predict(self, settings):
        """Predicts what has no prediction yet, by importance: first what others' budgets are a part of. Where the time is
        over, the rest is left out."""
        self.tools.deadline = time.monotonic() + self.left()
        try:
            self.predict_missing(settings)
        finally:
            self.tools.deadline = math.inf

    def predict_missing(self, settings):
        known = self.predicted()
        by_name = {setting.name: setting for setting in self.settings}
        wanted = {setting.name for setting in settings if setting.name not in known}
        wanted |= {by_name[name].budget.base for name in wanted
                   if by_name[name].budget and by_name[name].budget.base} - set(known)
        missing = sorted((s for s in self.settings if s.name in wanted), key=lambda setting: setting.priority)
        self.total, self.count, self.predicting = len(missing), 0, time.monotonic()
        if self.study.OUTLINED:
            self.predict_all([lambda group=group: self.outline(group) for group in same_training(missing)])
            return
        first = [s for s in missing if not (s.budget and s.budget.base)]
        then = [s for s in missing if s.budget and s.budget.base]
        for group in (first, then):
            self.predict_all([lambda setting=setting: [self.predict_one(setting)] for setting in group])

    def predict_all(self, tasks):
        """Runs tasks that return rows; the first alone, as the first compilation may measure the machine."""
        self.predict_batch(tasks[:1], 1)
        self.predict_batch(tasks[1:], self.jobs)

    def predict_batch(self, tasks, jobs):
        pool = ThreadPoolExecutor(jobs)
        try:
            for future in as_completed([pool.submit(self.while_time_is_left, task) for task in tasks]):
                for row in future.result():
                    if row is None:  # the time was over
                        continue
                    self.predictions.append(row)
                    self.count += 1
                    left = (time.monotonic() - self.predicting) / self.count * (self.total - self.count)
                    self.progress.show(f"[{self.count}/{self.total}] predicted {row['setting']}", min(left, self.left()))
        except BaseException:
            self.tools.processes.close()
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

    def while_time_is_left(self, task):
        return task() if self.left() > 0 else []

    def is_cut_off(self, done):
        """Whether a tool was ended because the study's time was over, which says nothing of the setting."""
        return done.timed_out and self.left() <= 0

    def outline(self, group):
        """Rows of settings that differ only in what they recompute, from one table of gc-compile."""
        began = time.monotonic()
        policies = [s.policy for s in group if s.budget is None and s.policy != "none"]
        assert len(policies) <= 1 and all(s.budget is None or s.budget.is_least for s in group), group
        done, points = self.tools.outline(group[0], policies[0] if policies else "", COMPILE_LIMIT)
        if self.is_cut_off(done):
            return []
        rows = []
        for setting in group:
            row = self.named(setting)
            row["took_seconds"] = (time.monotonic() - began) / len(group)
            if points:
                row.update(measurement.outlined(points[setting.policy], setting.policy, setting.batch,
                                                self.study.epoch_samples(setting)))
                row.update({"how": PREDICTED_ROW, "why": self.why_library()})
            else:
                row.update({"how": FAILED_ROW, "why": why_failed(done, False)})
            rows.append(row)
        return rows

    def named(self, setting):
        return {**self.common(), "setting": setting.name, **measurement.asked(setting)}

    def predict_one(self, setting):
        began = time.monotonic()
        row = self.named(setting)
        base = self.predicted().get(setting.budget.base) if setting.budget else None
        if setting.budget and setting.budget.base and base is None:
            return None  # the time was over before it
        if base and not base["predicted_peak_bytes"]:
            return {**row, "how": base["how"], "why": f"{base['setting']}: {base['why']}"}
        compiled = self.tools.compile(setting, base["predicted_peak_bytes"] if base else 0, COMPILE_LIMIT)
        if self.is_cut_off(compiled.done):
            return None
        row.update(measurement.predicted(compiled, self.study.epoch_samples(setting)))
        row["took_seconds"] = time.monotonic() - began
        if compiled.failed:
            # A fixed policy may ask for more checkpoints than there are values to keep.
            no_fit = compiled.done.code == BUDGET_MISSED or "the step saves only" in compiled.done.stderr
            return {**row, "how": NO_FIT_ROW if no_fit else FAILED_ROW, "why": why_failed(compiled.done, no_fit)}
        if "timeline" in setting.details:
            details.write_timeline(self.options.folder, setting, self.device, compiled.report)
        if "activations" in setting.details:
            details.write_activations(self.options.folder, setting, self.device, compiled.report)
        self.kept[setting.name] = compiled
        return {**row, "how": PREDICTED_ROW, "why": join(why_least(compiled), self.why_library())}

    def why_library(self):
        return f"compiled with --cuda-library={self.options.library}" if self.options.library else ""

    # Measurements.

    def cost(self, setting):
        prediction, rows = self.known[setting.name], self.results.rows
        compiling = 0 if setting.name in self.kept else 0.5 + allowance.median_compiling(rows, setting.network)
        return allowance.estimate(prediction, 1 + self.timed_steps(setting),
                                  allowance.median_ratio(rows, setting.network), compiling)

    def timed_steps(self, setting):
        prediction = self.known[setting.name]
        samples = self.trained_samples(setting)
        if samples:
            return max(self.size.epochs * measurement.epoch_extent(setting, samples)[0] - 1, 0)
        return self.size.timed_steps(prediction["predicted_step_seconds"])

    def trained_samples(self, setting):
        """Of each epoch, where whole epochs are trained; else 0."""
        samples = self.study.epoch_samples(setting) if self.size.epochs else 0
        return min(samples, self.options.limit or samples)

    def measure(self, settings):
        self.known = self.predicted()
        order = allowance.measuring_order(settings, self.cost)
        number, count = 0, len(settings)
        skipped = []
        for place, bundle in enumerate(order):
            if sum(map(self.cost, bundle)) > self.left():
                skipped += bundle
                continue
            for own, setting in enumerate(bundle):
                number += 1
                rest = sum(map(self.cost, bundle[own:])) + sum(sum(map(self.cost, later)) for later in order[place + 1:])
                self.progress.show(f"[{number}/{count}] measuring {setting.name}", min(rest, self.left()), always=True)
                self.measure_one(setting)
        for setting in skipped:
            self.append(setting, {"how": PREDICTED_ROW, "why": join(
                self.known[setting.name]["why"],
                f"not measured: takes about {duration(self.cost(setting))}, more than a {self.size.name} study has left")})

    def measure_one(self, setting):
        prediction, began = self.known[setting.name], time.monotonic()
        needed, free = prediction["predicted_peak_bytes"] + SPARE_BYTES, free_memory()
        if self.device == "cpu" and needed > free:
            self.append(setting, {"how": PREDICTED_ROW, "why": join(
                prediction["why"], f"needs {needed} bytes with the process, this machine has {free} free")})
            return
        compiled = self.compiled_plan(setting, prediction)
        if compiled.failed:
            self.append(setting, {"how": FAILED_ROW, "why": why_failed(compiled.done, False),
                                  "took_seconds": time.monotonic() - began}, is_new=True)
            return
        told = measurement.predicted(compiled, self.study.epoch_samples(setting))
        cells = {key: value for key, value in told.items() if value is not None}
        cells.update(self.train(setting, compiled))
        self.tools.plan_path(setting).unlink(missing_ok=True)
        cells["why"] = join(prediction["why"], cells.get("why", ""))
        self.append(setting, {**cells, "took_seconds": time.monotonic() - began}, is_new=True)

    def compiled_plan(self, setting, prediction):
        """The plan that was predicted: kept from then, or compiled again at the same budget."""
        kept = self.kept.pop(setting.name, None)
        if kept and self.tools.plan_path(setting).exists():
            return kept
        return self.tools.compile_at(setting, prediction["budget_bytes"] or 0, COMPILE_LIMIT)

    def train(self, setting, compiled):
        steps = 1 + self.timed_steps(setting)
        trained, samples = self.trained_samples(setting), self.study.epoch_samples(setting)
        epochs = self.size.epochs if trained else 0
        length = [f"--epochs={epochs}"] if epochs else [f"--steps={steps}"]
        if epochs and self.options.limit:
            length.append(f"--limit={self.options.limit}")
        data = self.options.data if epochs else "synthetic"
        limit = 120 + 10 * steps * compiled.step_seconds
        wants_ops = "operations" in setting.details
        done, report, events, ops = self.tools.train(setting, length, data, wants_ops, limit)
        if done.code or done.timed_out:
            return {"how": FAILED_ROW, "why": why_failed(done, False)}
        cells = measurement.measured(setting, compiled, report, events, self.origin["cores"], steps, samples, epochs,
                                     trained)
        if wants_ops:
            details.write_operations(self.options.folder, setting, self.device, ops)
        return cells


def same_training(settings):
    """Lists of settings that differ only in what they recompute."""
    groups = defaultdict(list)
    for setting in settings:
        groups[setting.model, tuple(setting.plain_flags())].append(setting)
    return list(groups.values())


def join(*reasons):
    return "; ".join(reason for reason in reasons if reason)


def why_failed(done, no_fit):
    if done.timed_out:
        return "took too long and was ended"
    if no_fit:  # with the smallest budget and the proven bound
        return " | ".join(line for line in done.stderr.splitlines()
                          if line.startswith(("gc-compile:", "no plan", "try ")) or "cannot be met" in line)
    if done.code < 0:
        return f"ended by signal {-done.code}" + (f": {done.reason()}" if done.reason() else "")
    return f"exit code {done.code}: {done.reason()}"


def why_least(compiled):
    """Says where the smallest feasible budget stands in for the one that was asked for."""
    if compiled.least_bytes and compiled.asked_bytes:
        return (f"{compiled.asked_bytes} bytes cannot be met (no plan can need less than {compiled.bound_bytes}); "
                f"this is the smallest feasible budget")
    return ""
