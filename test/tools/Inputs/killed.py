"""killed.py FOLDER COMMAND...: kills the command (SIGKILL) again and again while it writes checkpoints into FOLDER.

What stays must be whole and must not grow: the checkpoint, its list, what the run was asked for, and what a kill left of
these.
"""
import os
import random
import re
import signal
import subprocess
import sys
import time

folder, command = sys.argv[1], sys.argv[2:]
def is_expected(name):
    """A file of the folder, or one that was being given its name when the run was killed."""
    name = re.sub(r"^\.(.*)\.gc-partial$", r"\1", name)
    return name in ("checkpoints.json", "config.toml") or re.fullmatch(r"step-\d{8}\.safetensors", name)


generator = random.Random(1)
for number in range(8):
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    while not os.path.exists(os.path.join(folder, "checkpoints.json")):
        if process.poll() is not None:
            sys.exit(f"the command ended by itself with {process.returncode}")
        time.sleep(0.01)
    time.sleep(0.2 + 0.2 * generator.random())
    process.send_signal(signal.SIGKILL)
    if process.wait() != -signal.SIGKILL:
        sys.exit(f"the command ended by itself with {process.returncode}")
    names = os.listdir(folder)
    if extra := [name for name in names if not is_expected(name)]:
        sys.exit(f"after {number + 1} kills there is also {sorted(extra)}")
    # One that is kept, one that was new, and those that a kill left before their names were in the list.
    if len(names) > 6:
        sys.exit(f"after {number + 1} kills there are {sorted(names)}")
