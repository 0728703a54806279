"""What is going on, on standard error: one line that is overwritten on a terminal, else a line now and then."""

import sys
import time

EVERY_SECONDS = 10


def duration(seconds):
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    if seconds < 48 * 3600:
        return f"{seconds / 3600:.1f} h"
    return f"{seconds / 86400:.1f} days"


class Progress:
    def __init__(self, stream=None):
        self.stream = stream or sys.stderr
        self.is_terminal, self.next, self.shown = self.stream.isatty(), 0.0, False

    def show(self, text, left=None, always=False):
        """Tells where we are and about how long it takes yet. Into a file only now and then, unless `always`."""
        if left is not None:
            text += f", about {duration(max(left, 0))} left"
        if self.is_terminal:
            self.stream.write("\r\033[K" + text[:118])
            self.stream.flush()
            self.shown = True
        elif always or time.monotonic() >= self.next:
            self.next = time.monotonic() + EVERY_SECONDS
            self.say(text)

    def say(self, text):
        """A line that stays."""
        if self.shown:
            self.stream.write("\r\033[K")
            self.shown = False
        self.stream.write(text + "\n")
        self.stream.flush()
