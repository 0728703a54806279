"""killed.py FOLDER COMMAND...: kills the command (SIGKILL) again and again while it writes checkpoints into FOLDER.

What stays must be whole and must not grow: the checkpoint, what the run was asked for, and at most one unfinished file for
each of these.
"""
import os
import random
import signal
import subprocess
import sys
import time

folder, command = sys.argv[1], sys.argv[2:]
names = {"state.safetensors", "position.json", "config.toml"}
allowed = names | {f".{name}.gc-partial" for name in names}
generator = random.Random(1)
for number in range(8):
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    while not os.path.exists(os.path.join(folder, "position.json")):
        if process.poll() is not None:
            sys.exit(f"the command ended by itself with {process.returncode}")
        time.sleep(0.01)
    time.sleep(0.2 + 0.2 * generator.random())
    process.send_signal(signal.SIGKILL)
    if process.wait() != -signal.SIGKILL:
        sys.exit(f"the command ended by itself with {process.returncode}")
    if extra := set(os.listdir(folder)) - allowed:
        sys.exit(f"after {number + 1} kills there is also {sorted(extra)}")
