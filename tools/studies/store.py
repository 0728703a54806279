"""results.csv: rows appended whole, one line each, by one process at a time.

A row is written with one write and synced; where the disk is full the file is cut back to the rows before it. A
line without its end (the machine stopped in the middle of a write) is dropped at the next start, with a word.
"""

import csv
import errno
import fcntl
import io
import os
import time

from .columns import COLUMNS, HOW, WORDS
from .problem import FAILED, Problem


def line_of(cells):
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(
        [" ".join(str(cell).split()) if isinstance(cell, str) else cell for cell in cells])
    return text.getvalue().encode()


def cell_text(value):
    if value is None:
        return ""
    return repr(value) if isinstance(value, float) else str(value)


def parse_cell(column, text, where):
    if column in WORDS or text == "":
        return text if column in WORDS else None
    try:
        return float(text) if any(c in text for c in ".einf") else int(text)
    except ValueError:
        raise Problem(f"{where}: '{text}' is no number for the column {column}; mend the line or remove it") from None


def cells_of(line, where):
    try:
        return next(csv.reader([line]), [])
    except csv.Error as error:  # such as a cell of more than 128 KB
        raise Problem(f"{where}: {error}; mend the line or remove it") from None


def read_rows(path):
    """All whole rows of the file, and how many bytes they take with the header. A torn last line is left out."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return [], 0
    except OSError as error:
        raise Problem(f"{path}: cannot be read: {error.strerror}; move it away or give another --output") from None
    whole = data[:data.rfind(b"\n") + 1]
    try:
        lines = whole.decode().splitlines()
    except UnicodeDecodeError:
        raise Problem(f"{path}: is no text; move it away or give another --output") from None
    if not lines:
        if not line_of(COLUMNS).startswith(data):  # a header of ours that was not written to its end may be dropped
            raise Problem(f"{path}: this is no table of a study; move the file away or give another --output")
        return [], 0
    header = cells_of(lines[0], f"{path}:1")
    if header != COLUMNS:
        unknown = next((c for c in header if c not in COLUMNS), None)
        detail = f"'{unknown}' is none of ours" if unknown else f"{len(header)} columns where {len(COLUMNS)} are expected"
        raise Problem(f"{path}: these are not the columns of a study ({detail}); move the file away or give another "
                      "--output")
    rows = []
    for number, line in enumerate(lines[1:], 2):
        where = f"{path}:{number}"
        cells = cells_of(line, where)
        if len(cells) != len(COLUMNS):
            raise Problem(f"{where}: {len(cells)} cells where {len(COLUMNS)} are expected; mend the line or remove it")
        row = {column: parse_cell(column, text, where) for column, text in zip(COLUMNS, cells)}
        if row["how"] not in HOW:
            raise Problem(f"{where}: how='{row['how']}' is none of {', '.join(HOW)}; mend the line or remove it")
        rows.append(row)
    return rows, len(whole)


def check_origin(path, rows, study, machine=None):
    """Fails where rows are of another study, or (where it is given) of another machine."""
    for row in rows:
        if row["study"] != study:
            raise Problem(f"{path}: holds rows of the study {row['study']}, not {study}; give another --output")
        if machine and (row["machine"], row["cores"]) != (machine.name, machine.cores):
            raise Problem(f"{path}: holds rows of another machine ({row['machine']}, {row['cores']} cores; this is "
                          f"{machine.name}, {machine.cores} cores); give another --output, or draw them with --draw")


ENDING_SECONDS = 1  # that tools of a study that has just ended may take to be gone


def lock_folder(folder):
    """Holds the folder as long as the returned file is open, here or in a tool that inherits it."""
    path = folder / ".lock"
    try:
        file = open(path, "w")  # stays open: closing it gives the folder free
    except OSError as error:
        raise Problem(f"{path}: cannot be written: {error.strerror}; give another --output") from None
    last_try = time.monotonic() + ENDING_SECONDS
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return file
        except OSError as error:
            is_held = error.errno in (errno.EAGAIN, errno.EACCES)
            if is_held and time.monotonic() < last_try:
                time.sleep(0.05)
                continue
            file.close()
            reason = (f"another study is running in '{folder}', or a tool that a killed one left; wait for it, or" if is_held
                      else f"{path}: cannot be locked: {error.strerror};")
            raise Problem(f"{reason} give another --output") from None


class Store:
    """Rows of one file, read at the start and appended to. Only the holder of the folder's lock may open one."""

    def __init__(self, path, say):
        self.path = path
        self.rows, size = read_rows(path)
        try:
            self.file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
            torn = os.fstat(self.file).st_size - size
            if torn:
                os.ftruncate(self.file, size)
                say(f"note: {path}: dropped the last {torn} bytes, a row that was not written to its end")
        except OSError as error:
            raise Problem(f"{path}: cannot be written: {error.strerror}; give another --output", FAILED) from None
        self.size = size
        if not size:
            self.write(line_of(COLUMNS))

    def write(self, line):
        try:
            written = os.write(self.file, line)
            if written != len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(self.file)
        except OSError as error:
            try:
                os.ftruncate(self.file, self.size)
            except OSError:
                pass  # the next start drops what is left of the line
            raise Problem(f"writing '{self.path}' failed: {error.strerror}; free some space and start again: the "
                          f"{len(self.rows)} rows before it are kept", FAILED) from None
        self.size += len(line)

    def append(self, row):
        unknown = set(row) - set(COLUMNS)
        assert not unknown, unknown
        # A row as it will be read again, so that a killed study and an unbroken one see the same.
        texts = {column: " ".join(cell_text(row.get(column)).split()) for column in COLUMNS}
        self.write(line_of(texts.values()))
        self.rows.append({column: parse_cell(column, text, self.path) for column, text in texts.items()})

    def close(self):
        os.close(self.file)


def latest(rows, device=None):
    """The last row of each setting, by name: a later measurement stands in for a prediction."""
    return {row["setting"]: row for row in rows if device is None or row["device"] == device}
