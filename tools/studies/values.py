"""Rows as numbers for tables and figures: measured where there is a measurement, else predicted, and which of the two."""

import re
from dataclasses import dataclass

MB, GB, MIB = 1e6, 1e9, 1 << 20


@dataclass(frozen=True)
class Value:
    number: float = None
    is_measured: bool = False

    def scaled(self, unit):
        return Value(None if self.number is None else self.number / unit, self.is_measured)

    def text(self, form):
        if self.number is None:
            return "–"
        return shown(self.number, form) + ("" if self.is_measured else " (p)")


def shown(number, form):
    """The number as `form` prints it, without the sign of what rounds to zero."""
    text = form.format(number)
    return text if re.search("[1-9]", text) else form.format(0.0)


NOTHING = Value()
LEGEND = "(p): predicted by gc-compile, not measured. –: there is none; results.csv says why."


def has_numbers(row):
    """Whether the setting was measured or predicted at all."""
    return row is not None and row["how"] in ("measured", "predicted")


def value_of(row, measured, predicted):
    if row is None:
        return NOTHING
    if row["how"] == "measured" and row[measured] is not None:
        return Value(row[measured], True)
    return Value(row[predicted]) if row["how"] != "failed" else NOTHING


def peak_of(row):
    return value_of(row, "measured_peak_bytes", "predicted_peak_bytes")


def step_of(row):
    return value_of(row, "step_seconds", "predicted_step_seconds")


def epoch_of(row):
    if row is None or row["how"] == "failed":
        return NOTHING
    return Value(row["epoch_seconds"], row["how"] == "measured")


def slower_than(row, base):
    """The part by which steps are slower than those of `base`: both measured, else both predicted."""
    if row is None or base is None:
        return NOTHING
    for measured, key in ((True, "step_seconds"), (False, "predicted_step_seconds")):
        if row[key] and base[key] and "failed" not in (row["how"], base["how"]):
            return Value(row[key] / base[key] - 1, measured)
    return NOTHING


def part_of(row, base):
    """The peak as a part of that of `base`: both measured, else both predicted."""
    if row is None or base is None:
        return NOTHING
    for measured, key in ((True, "measured_peak_bytes"), (False, "predicted_peak_bytes")):
        if row[key] and base[key] and "failed" not in (row["how"], base["how"]):
            return Value(row[key] / base[key], measured)
    return NOTHING


def is_same_plan(row, base):
    """Whether a budget that does not bite, or checkpoints of which there are enough, left the plan of `base` as it is."""
    if not has_numbers(row) or not has_numbers(base) or row["recomputed"] or row["recompute_fraction"]:
        return False
    same = all(row[key] == base[key] for key in ("predicted_peak_bytes", "micro_batches", "split_parts"))
    return same and abs(row["predicted_step_seconds"] / base["predicted_step_seconds"] - 1) < 1e-3


def overhead_text(row, base, form="{:+.1f} %"):
    """By how much steps are slower than those of `base`; of one plan run twice that would be noise."""
    return "same plan" if is_same_plan(row, base) else percent(slower_than(row, base), form)


def percent(value, form="{:+.1f} %"):
    return value.scaled(0.01).text(form)


def slug(device):
    """The device in file names."""
    return re.sub(r"[^\w.-]+", "-", device)
