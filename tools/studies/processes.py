"""Runs the tools, each in a process group of its own with a time limit, and ends them with us."""

import os
import signal
import subprocess
import threading
from dataclasses import dataclass


@dataclass(frozen=True)
class Done:
    code: int  # negative: ended by that signal
    stderr: str
    timed_out: bool = False

    def reason(self):
        """The first line on standard error that is no note or warning."""
        lines = [line for line in self.stderr.splitlines() if line.strip()]
        for line in lines:
            if not line.startswith(("note:", "warning:")):
                return line
        return lines[0] if lines else ""


class Processes:
    """`lock` is a file that the tools inherit: where a study is killed beyond clearing up (kill -9), its folder stays
    locked until what it had running has ended."""

    def __init__(self, lock=None):
        self.running, self.mutex, self.closed = set(), threading.Lock(), False
        self.inherited = (lock.fileno(),) if lock else ()

    def run(self, command, seconds, folder):
        """Runs a command to its end, or kills it after `seconds`. Its output goes nowhere, its errors are returned."""
        with self.mutex:
            if self.closed:
                return Done(-signal.SIGTERM, "")
            process = subprocess.Popen([str(part) for part in command], cwd=folder, stdin=subprocess.DEVNULL,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                       errors="replace", start_new_session=True, pass_fds=self.inherited)
            self.running.add(process)
        try:
            _, stderr = process.communicate(timeout=seconds)
            return Done(process.returncode, stderr)
        except subprocess.TimeoutExpired:
            end(process)
            _, stderr = process.communicate()
            return Done(process.returncode, stderr, timed_out=True)
        except BaseException:
            end(process)
            process.wait()
            raise
        finally:
            with self.mutex:
                self.running.discard(process)

    def close(self):
        """Ends everything that runs, and lets nothing begin any more."""
        with self.mutex:
            self.closed = True
            for process in self.running:
                end(process)


def end(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
