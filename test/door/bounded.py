"""Runs a tool on hostile input and judges how it ended: by a documented exit code, in time, with a reason."""
import os
import signal
import subprocess
from collections import Counter

os.environ["GC_NO_CALIBRATE"] = "1"  # built-in rates, and nothing of this is kept
EXIT_CODES = {0, 1, 2, 3, 4}


class Outcome:
    def __init__(self, command, code, output, errors):
        self.command, self.code, self.output, self.errors = command, code, output, errors

    @property
    def complaint(self):
        """Why this ending is a bug, or None. `code` is None where the tool had to be killed."""
        if self.code is None:
            return "hangs"
        if self.code < 0:
            return f"died of {signal.Signals(-self.code).name}"
        if self.code not in EXIT_CODES:
            return f"ended with the undocumented exit code {self.code}"
        if "please report" in self.errors:
            return "says that it is a bug of gc"
        if self.code != 0 and not self.errors.strip():
            return f"exit code {self.code} without a reason on standard error"
        return None


def run(command, seconds=20, stdin=b"", **options):
    """Runs `command`; it and everything that it started are killed after `seconds`."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, start_new_session=True, **options)
    try:
        output, errors = process.communicate(stdin, timeout=seconds)
        code = process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, errors = process.communicate()
        code = None
    return Outcome(command, code, output.decode(errors="replace"), errors.decode(errors="replace"))


class Tally:
    """Counts endings; the first complaints are told with what brings them back."""

    def __init__(self, shown=10):
        self.codes, self.complaints, self.shown = Counter(), 0, shown

    def add(self, outcome, case, complaint=None):
        """`case` tells how to repeat this one; `complaint` is what the caller found wrong by itself."""
        self.codes[outcome.code] += 1
        complaint = outcome.complaint or complaint
        if complaint:
            self.complaints += 1
            if self.complaints <= self.shown:
                print(f"{case}: {complaint}\n  {' '.join(map(str, outcome.command))}")
                for line in outcome.errors.splitlines()[:3]:
                    print(f"  | {line}")
        return complaint

    def finish(self, what):
        """Prints the counts; the exit code of the script."""
        codes = ", ".join(f"{n} x exit {c}" if c is not None else f"{n} x hung"
                          for c, n in sorted(self.codes.items(), key=str))
        total = sum(self.codes.values())
        print(f"{total} {what}: {codes or 'none'}; {self.complaints} complaints")
        return 1 if self.complaints or not total else 0
