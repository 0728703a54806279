"""What is told of the machine and of the versions with every row."""

import os
import platform
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Machine:
    name: str
    cores: int
    memory_bytes: int


def cpu_name():
    try:
        match = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        match = None
    return " ".join(match.group(1).split()) if match else platform.machine()


def memory_info(key):
    match = re.search(rf"^{key}:\s*(\d+) kB", Path("/proc/meminfo").read_text(), re.MULTILINE)
    return int(match.group(1)) * 1024


def this_machine():
    return Machine(cpu_name(), len(os.sched_getaffinity(0)), memory_info("MemTotal"))


def free_memory():
    """Bytes that a process may have without anything being swapped out: of the machine, and of its control group."""
    free = memory_info("MemAvailable")
    try:
        limit = Path("/sys/fs/cgroup/memory.max").read_text().strip()
        used = int(Path("/sys/fs/cgroup/memory.current").read_text())
    except (OSError, ValueError):
        return free
    return free if limit == "max" else min(free, int(limit) - used)


def said(*command):
    """What a command prints; empty where it fails or is not there."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def versions(bin_folder):
    """gc's and oneDNN's version and the system's, in one line."""
    parts = [said(str(bin_folder / "gc-run"), "--version") or "gc-run, version unknown"]
    library = said("dpkg-query", "-W", "-f", "${Package} ${Version}\n", "libdnnl*")
    parts += [f"oneDNN {line.split()[1]}" for line in library.splitlines()
              if re.match(r"libdnnl\d\S* \d", line)][:1]
    parts.append(f"{platform.system()} {platform.release()}")
    return ", ".join(parts)


def commit(root):
    """The commit of the sources, marked where tracked files differ from it."""
    name = said("git", "-C", str(root), "rev-parse", "--short=12", "HEAD")
    if not name:
        return "unknown"
    changed = said("git", "-C", str(root), "status", "--porcelain", "--untracked-files=no", "--", ":!studies")
    return name + ("+changes" if changed else "")
