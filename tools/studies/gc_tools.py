"""gc-gen, gc-compile and gc-run as functions: a setting in, what their reports say out."""

import csv
import json
import math
import os
import re
import shutil
import time
from dataclasses import dataclass, field
from pathlib import Path

from .problem import FAILED, Problem
from .processes import Done

NAMES = ("gc-gen", "gc-compile", "gc-run")
BUDGET_MISSED, NO_DEVICE = 3, 4
FULL_DISK = "No space left on device"
MARKER = ".made-by-tools-study"  # in a folder that a study made and may remove


@dataclass
class Compiled:
    """What gc-compile answered for a setting."""

    done: Done
    report: dict = field(default_factory=dict)
    asked_bytes: int = 0  # the budget that the setting asks for
    budget_bytes: int = 0  # the budget that the plan was made for
    least_bytes: int = 0  # the smallest feasible budget, where gc-compile had to name it
    bound_bytes: int = 0  # no plan can need less: a proven bound

    @property
    def failed(self):
        return self.done.code != 0

    @property
    def peak(self):
        return self.report["memory"]["predicted_peak_bytes"]

    @property
    def step_seconds(self):
        return self.report["prediction"]["step_seconds"]


def file_name(setting):
    return re.sub(r"[^\w.+-]+", "_", setting.name)


def read_json(path):
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise Problem(f"{path}: the tool's report cannot be read ({error})", FAILED) from None


class Tools:
    """The tools of a build folder. Files between them are in `work`, which is emptied at the start and removed at the end."""

    def __init__(self, bin_folder, work, processes, device, target, library=""):
        self.bin, self.work, self.processes = bin_folder, work, processes
        self.device_flags = [] if device == "cpu" else [f"--device={device}"]
        self.target_flags = [f"--target={target}"] if target else []
        self.target_flags += [f"--cuda-library={library}"] if library else []
        self.deadline = math.inf  # of time.monotonic(): what runs then is ended as if it took too long

    def open(self):
        """Makes the folder; one that no study made may hold what is someone's own, and is left as it is."""
        try:
            if os.path.lexists(self.work) and not self.is_ours() and not self.is_empty():
                raise Problem(f"'{self.work}' is no folder of a study, and a study would empty it; move it away or give "
                              "another --output")
            self.close()
            self.work.mkdir(parents=True, exist_ok=True)
            (self.work / MARKER).touch()
        except OSError as error:
            raise Problem(f"'{self.work}' cannot be written: {error.strerror}; give another --output", FAILED) from None

    def is_ours(self):
        return self.work.is_dir() and not self.work.is_symlink() and (self.work / MARKER).exists()

    def is_empty(self):
        return self.work.is_dir() and not self.work.is_symlink() and not any(self.work.iterdir())

    def close(self):
        if self.is_ours():
            shutil.rmtree(self.work, ignore_errors=True)

    def run(self, name, *arguments, seconds):
        seconds = min(seconds, max(self.deadline - time.monotonic(), 0.1))
        done = self.processes.run([self.bin / name, *arguments], seconds, self.work)
        if FULL_DISK in done.stderr:
            raise Problem(f"{done.reason()}; free some space and start again: all rows so far are kept", FAILED)
        return done

    def model(self, setting, seconds):
        """The setting's network as IR; settings with the same one share the file."""
        path = self.work / (re.sub(r"[^\w.+-]+", "_", "_".join(setting.model)) + ".mlir")
        if path.exists():
            return path, Done(0, "")
        part = path.with_name(f"{file_name(setting)}.part")
        done = self.run("gc-gen", *setting.model, "-o", part, seconds=seconds)
        if done.code == 0:
            part.rename(path)
        return path, done

    def plan_path(self, setting):
        return self.work / f"{file_name(setting)}.plan"

    def compile_once(self, setting, budget, seconds):
        model, done = self.model(setting, seconds)
        if done.code:
            return Compiled(done)
        report = self.work / f"{file_name(setting)}.compile.json"
        flags = [f"--budget={budget}"] if budget else []
        done = self.run("gc-compile", model, "-o", self.plan_path(setting), f"--report={report}", *self.device_flags,
                        *self.target_flags, *setting.training_flags(), *flags, seconds=seconds)
        if done.code:
            return Compiled(done)
        compiled = Compiled(done, read_json(report))
        report.unlink()
        return compiled

    def compile_at(self, setting, budget, seconds):
        """Compiles a setting at a budget that is known to be feasible (0: none)."""
        compiled = self.compile_once(setting, budget, seconds)
        compiled.budget_bytes = budget
        return compiled

    def outline(self, setting, policy, seconds):
        """What gc-compile plans, without generating code: a row each for no recomputation, the smallest feasible budget
        and, where it is given, a fixed policy. Takes a tenth of the time."""
        model, done = self.model(setting, seconds)
        if done.code:
            return done, {}
        table = self.work / f"{file_name(setting)}.pareto.csv"
        remat = [f"--remat={policy}"] if policy else []
        done = self.run("gc-compile", model, "--pareto=2", f"--csv={table}", *self.device_flags, *self.target_flags,
                        *setting.plain_flags(), *remat, seconds=seconds)
        if done.code:
            return done, {}
        with open(table, newline="") as file:
            rows = list(csv.DictReader(file))
        table.unlink()
        return done, {"none": rows[0], "budget": rows[1], **({policy: rows[2]} if policy else {})}

    def compile(self, setting, base_peak, seconds):
        """Compiles a setting; `base_peak` is the peak of the setting that its budget is a part of."""
        budget = setting.budget
        if budget is None:
            return self.compile_once(setting, 0, seconds)
        # No step needs as little as a byte, so that the answer names the smallest budget.
        asked = 1 if budget.is_least else budget.bytes or int(budget.fraction * base_peak)
        first = self.compile_once(setting, asked, seconds)
        first.asked_bytes, first.budget_bytes = (0 if budget.is_least else asked), asked
        if first.done.code != BUDGET_MISSED:
            return first
        first.least_bytes = number_in(r"try --budget=(\d+)", first.done.stderr)
        first.bound_bytes = number_in(r"can need less than (\d+) bytes", first.done.stderr)
        if not first.least_bytes or not (budget.or_least or budget.is_least):
            return first
        second = self.compile_once(setting, first.least_bytes, seconds)
        second.asked_bytes, second.budget_bytes = first.asked_bytes, first.least_bytes
        second.least_bytes, second.bound_bytes = first.least_bytes, first.bound_bytes
        return second

    def train(self, setting, length, data, profile, seconds):
        """Runs the setting's plan: its report, the last step's commands and, where asked for, seconds of each op."""
        name = file_name(setting)
        report, trace, costs = (self.work / f"{name}.{kind}.json" for kind in ("run", "trace", "profile"))
        flags = [f"--profile={costs}"] if profile else []
        done = self.run("gc-run", self.plan_path(setting), f"--data={data}", *length, *self.device_flags,
                        f"--report={report}", f"--trace={trace}", *flags, seconds=seconds)
        if done.code:
            return done, {}, [], []
        result = done, read_json(report), read_json(trace)["traceEvents"], read_json(costs)["ops"] if profile else []
        for path in (report, trace, costs):
            path.unlink(missing_ok=True)
        return result


def number_in(pattern, text):
    match = re.search(pattern, text)
    return int(match.group(1)) if match else 0


def find_tools(bin_folder):
    missing = [name for name in NAMES if not (Path(bin_folder) / name).exists()]
    if missing:
        raise Problem(f"{', '.join(missing)} not found in '{bin_folder}'; build first (tools/build {' '.join(NAMES)}), "
                      "or name the build folder with --build=DIR")


def check_target(tools, setting, target):
    """Fails where gc-compile knows no such card: not after every setting failed for it."""
    done, _ = tools.outline(setting, "", 600)
    if done.code:
        raise Problem(done.reason() or f"--target={target}: gc-compile fails with exit code {done.code}")


def has_gpu(tools, setting):
    """Whether gc-compile finds a GPU to compile for; a failure for any other reason is told."""
    compiled = tools.compile_once(setting, 0, 600)
    if compiled.failed and compiled.done.code != NO_DEVICE and "has no GPU" not in compiled.done.stderr:
        raise Problem(f"looking for a GPU failed: {compiled.done.reason()}", FAILED)
    return not compiled.failed
