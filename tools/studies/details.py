"""Files beside a row: memory against operation before and after, seconds per operation, bytes per activation."""

import csv
import io
import os

from .gc_tools import file_name
from .problem import FAILED, Problem
from .values import slug

ACTIVATION = ["op", "name", "result", "bytes", "kept", "executions", "seconds", "repeatable", "at_peak"]
OPERATION = ["op", "name", "list", "implementation", "seconds", "seconds_predicted", "executions", "flops",
             "bytes_moved", "recomputed"]


def write_atomically(path, data):
    """Replaces a file whole, or leaves it as it was."""
    if isinstance(data, str):
        data = data.encode()
    part = path.with_name(path.name + ".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(data)
        os.replace(part, path)
    except OSError as error:
        try:
            part.unlink(missing_ok=True)
        except OSError:
            pass  # its folder is none
        raise Problem(f"writing '{path}' failed: {error.strerror}; free some space and start again: all rows so far "
                      "are kept", FAILED) from None


def table_path(folder, kind, setting, device):
    return folder / "details" / f"{kind}-{file_name(setting)}-{slug(device)}.csv"


def write_table(path, columns, rows):
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    write_atomically(path, text.getvalue())


def rounded(value):
    return f"{value:.6g}" if isinstance(value, float) else value


def write_timeline(folder, setting, device, report):
    """The bytes alive at each op, as they would be with nothing recomputed (`before`) and as planned (`after`)."""
    timeline = (report["compiler"] or {}).get("timeline")
    if timeline:
        rows = [(side, place, live) for side in ("before", "after")
                for place, live in enumerate(timeline[side]["live"])]
        write_table(table_path(folder, "timeline", setting, device), ["side", "place", "bytes"], rows)


def write_activations(folder, setting, device, report):
    saved = (report["compiler"] or {}).get("saved", report.get("saved"))
    if saved is not None:
        rows = [[rounded(value.get(column)) for column in ACTIVATION] for value in saved]
        write_table(table_path(folder, "activations", setting, device), ACTIVATION, rows)


def write_operations(folder, setting, device, ops):
    rows = [[rounded(op.get(column)) for column in OPERATION] for op in ops]
    write_table(table_path(folder, "operations", setting, device), OPERATION, rows)


def read_timeline(folder, setting, device):
    """{before: [bytes], after: [bytes]}, or nothing where the file is not there."""
    try:
        with open(table_path(folder, "timeline", setting, device), newline="") as file:
            rows = list(csv.DictReader(file))
        return {side: [int(row["bytes"]) for row in rows if row["side"] == side] for side in ("before", "after")}
    except FileNotFoundError:
        return None
    except (KeyError, ValueError, TypeError, csv.Error, OSError):
        raise Problem(f"{table_path(folder, 'timeline', setting, device)}: is no timeline of ours; remove it") from None
