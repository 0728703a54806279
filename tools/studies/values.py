"""Rows as numbers for tables and figures: measured where there is a measurement, else predicted, and which of the two."""

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
        return form.format(self.number) + ("" if self.is_measured else " (p)")


NOTHING = Value()
LEGEND = "(p): predicted by gc-compile, not measured. –: there is none; results.csv says why."


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
        if row[key] and base[key]:
            return Value(row[key] / base[key], measured)
    return NOTHING


def percent(value, form="{:+.1f} %"):
    return value.scaled(0.01).text(form)


def slug(device):
    return device.replace(":", "-")
