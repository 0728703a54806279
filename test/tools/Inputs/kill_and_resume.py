"""kill_and_resume.py FOLDER PLAN DATA [--kills=20] [--seconds=0.7]: a run that is killed at random moments is what it
would have been.

Trains once undisturbed, then again and again with a checkpoint every few steps, each time killed (SIGKILL) after a random
while and resumed, until there were so many kills. Whenever a run comes to its end, its weights, its best validation and
when it was must equal those of the undisturbed run; after each kill every checkpoint that the list names must be there,
whole. Runs that are killed before their first checkpoint begin anew.
"""
import argparse
import json
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import time

parser = argparse.ArgumentParser()
parser.add_argument("folder")
parser.add_argument("plan")
parser.add_argument("data")
parser.add_argument("--kills", type=int, default=20)
parser.add_argument("--seconds", type=float, default=0.7)
arguments = parser.parse_args()
generator = random.Random(3)
os.makedirs(arguments.folder, exist_ok=True)


def path(name):
    return os.path.join(arguments.folder, name)


def command(weights, report, *more):
    return ["gc-run", arguments.plan, "--threads=1", f"--data={arguments.data}", "--shuffle", "--augment=shift-crop:2",
            "--epochs=40", "--validation=0.25", "--validate-every=5s", f"--save={path(weights)}",
            f"--report={path(report)}", "--quiet", *more]


def outcome(weights, report):
    with open(path(weights), "rb") as file:
        data = file.read()
    with open(path(report)) as file:
        best = json.load(file)["best"]
    return data, best["value"], best["step"]


def check_list(folder):
    """Every file that the list names is a whole safetensors file."""
    try:
        with open(os.path.join(folder, "checkpoints.json")) as file:
            checkpoints = json.load(file)["checkpoints"]
    except FileNotFoundError:
        return 0
    assert checkpoints, "the list is empty"
    for entry in checkpoints:
        name = os.path.join(folder, entry["file"])
        with open(name, "rb") as file:
            header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
            ends = [tensor["data_offsets"][1] for key, tensor in header.items() if key != "__metadata__"]
            assert file.tell() + max(ends) == os.path.getsize(name) == entry["bytes"], f"{name} is not whole"
    return checkpoints[-1]["step"]


subprocess.run(command("whole.safetensors", "whole.json"), check=True)
expected = outcome("whole.safetensors", "whole.json")
kills = finished = 0
positions = set()
folder = path("run")
shutil.rmtree(folder, ignore_errors=True)
while kills < arguments.kills or not finished:
    process = subprocess.Popen(command("parts.safetensors", "parts.json", f"--checkpoint={folder}", f"--resume={folder}",
                                       "--checkpoint-every=3"))
    try:
        code = process.wait(None if kills >= arguments.kills else arguments.seconds * generator.random())
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        code = process.wait()
    if code == -signal.SIGKILL:
        kills += 1
        positions.add(check_list(folder))
        continue
    if code != 0:
        sys.exit(f"after {kills} kills: exit code {code}")
    finished += 1
    found = outcome("parts.safetensors", "parts.json")
    if found[1:] != expected[1:]:
        sys.exit(f"after {kills} kills the best validation is {found[1:]}, expected {expected[1:]}")
    if found[0] != expected[0]:
        sys.exit(f"after {kills} kills the weights differ")
    shutil.rmtree(folder)
print(f"{kills} kills at {len(positions)} positions, {finished} runs to the end, each with the same bits")
if len(positions) < min(5, arguments.kills // 3):
    sys.exit("too few positions to show anything; give it more seconds")
