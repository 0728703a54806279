"""formats.py [--build=build] [--keep=FOLDER]: what gc writes, opened with the software of those whose formats they are.

Runs a small training with every output, and a copy of it that is killed, and reads
  event files      with TensorBoard's event_accumulator and its hyper-parameter plugin's own parser
  weights, checkpoints, predictions   with the safetensors library
  the trace        by the rules of the JSON trace format that Perfetto reads, as it documents them
  the page         with Chromium, if there is one
  metrics.csv, metrics.jsonl, checkpoints.json, report   with Python's csv and json

Needs tensorboard, safetensors and numpy: python -m venv V && V/bin/pip install tensorboard safetensors numpy. Ends with 1
where something does not open or does not hold what it must.
"""
import argparse
import csv
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

import numpy
import safetensors
import safetensors.numpy
import tensorboard
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.plugins.hparams import metadata as hparams_metadata

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
sys.path.insert(0, os.path.join(ROOT, "test/browser"))
STEPS, EVERY = 12, 4


def say(what, opened_with, found):
    print(f"{what:<22} {opened_with:<34} {found}")


def expect(holds, text):
    if not holds:
        sys.exit(f"formats.py: {text}")


def read_events(folder):
    events = EventAccumulator(folder, size_guidance={"scalars": 0, "histograms": 0, "tensors": 0})
    events.Reload()
    return events


def check_events(folder, steps):
    events = read_events(folder)
    tags = events.Tags()
    losses = events.Scalars("loss/train")
    expect([one.step for one in losses] == list(range(1, steps + 1)), "loss/train has other steps")
    for tag in ("loss/validation", "accuracy/validation", "top5/validation", "loss/test"):
        expect(tag in tags["scalars"], f"no scalar {tag}")
    kinds = {tag.split("/")[0] for tag in tags["histograms"]}
    expect(kinds == {"weights", "gradients"}, f"histograms of {kinds}")
    for tag in tags["histograms"]:
        found = events.Histograms(tag)
        expect([one.step for one in found] == list(range(EVERY, steps + 1, EVERY)), f"{tag} has other steps")
        for one in found:
            value = one.histogram_value
            expect(sum(value.bucket) == value.num and len(value.bucket) == len(value.bucket_limit), f"{tag}: buckets")
            expect(list(value.bucket_limit) == sorted(value.bucket_limit), f"{tag}: limits")
    texts = {tag: events.Tensors(tag)[0].tensor_proto.string_val[0].decode() for tag in tags["tensors"]
             if events.SummaryMetadata(tag).plugin_data.plugin_name == "text"}
    expect("gc-run" in texts["command_line"] and "steps" in texts["configuration"], f"texts: {texts}")
    content = events.PluginTagToContent("hparams")
    start = hparams_metadata.parse_session_start_info_plugin_data(content[hparams_metadata.SESSION_START_INFO_TAG])
    end = hparams_metadata.parse_session_end_info_plugin_data(content[hparams_metadata.SESSION_END_INFO_TAG])
    expect(start.hparams["lr"].number_value == 0.125 and start.hparams["shuffle"].bool_value and end.status == 1,
           f"hyper-parameters: {start} {end}")
    say("event file", f"TensorBoard {tensorboard.__version__}",
        f"{len(tags['scalars'])} scalars, {len(tags['histograms'])} histograms, {len(texts)} texts, "
        f"{len(start.hparams)} hyper-parameters")


def check_tensors(path, what, names=()):
    with safetensors.safe_open(path, framework="numpy") as file:
        shapes = {name: file.get_tensor(name).shape for name in file.keys()}
    expect(set(names) <= set(shapes), f"{path} has {shapes}")
    say(what, f"safetensors {safetensors.__version__}", f"{len(shapes)} tensors")
    return shapes


def check_trace(path):
    """Complete events lie one after the other on their track; counters have numbers; tracks have names."""
    with open(path, encoding="utf-8") as file:
        trace = json.load(file)
    events = trace["traceEvents"]
    ends, kinds, named, tracks, counters = {}, {}, {}, set(), {}
    for event in sorted(events, key=lambda each: each.get("ts", 0)):
        kinds[event["ph"]] = kinds.get(event["ph"], 0) + 1
        expect(isinstance(event["name"], str) and isinstance(event["pid"], int), f"{event}")
        if event["ph"] == "X":
            track = (event["pid"], event["tid"])
            tracks.add(track)
            expect(event["dur"] >= 0 and event["ts"] >= ends.get(track, 0) - 1e-3, f"{event} overlaps on its track")
            ends[track] = event["ts"] + event["dur"]
        elif event["ph"] == "C":
            expect(event["args"] and all(isinstance(value, (int, float)) for value in event["args"].values()), f"{event}")
            counters.setdefault(event["name"], []).append(event["args"])
        elif event["ph"] == "M":
            expect(event["name"] in ("process_name", "thread_name", "thread_sort_index", "process_sort_index"), f"{event}")
            if event["name"] == "thread_name":
                named[event["pid"], event["tid"]] = event["args"]["name"]
        else:
            sys.exit(f"formats.py: {event} is of an unknown kind")
    kinds_of_commands = sorted(named[track] for track in tracks)
    expect({"forward", "backward", "updates"} <= set(kinds_of_commands), f"tracks {kinds_of_commands}")
    arena = [sum(values.values()) for values in counters["arena_bytes"]]
    expect(len(arena) > 2 and min(arena) > 0, "the arena has no counter")
    say("trace", "rules of the JSON trace format", f"{kinds['X']} commands on the tracks {', '.join(kinds_of_commands)}; counters "
        f"{', '.join(counters)}; the arena up to {max(arena)} bytes")


def check_page(path):
    try:
        from chromium import Browser, find_chromium
    except ImportError:
        find_chromium = lambda: None
    program = find_chromium()
    if not program:
        say("page", "no Chromium here", "not opened")
        return
    version = subprocess.run([program, "--version"], capture_output=True, text=True).stdout.strip()
    with Browser(program) as browser:
        browser.open("file://" + os.path.abspath(path), 1300, 900)
        errors = list(browser.errors())
        expect(not errors, f"the page: {errors}")
        cells = browser.evaluate("document.querySelectorAll('.classes td').length")
    expect(cells > 100, f"the page has {cells} cells of classes")
    say("page", version[:33], f"no error, {cells} cells of classes")


def check_rows(folder, steps):
    with open(os.path.join(folder, "metrics.csv"), newline="") as file:
        rows = list(csv.DictReader(file))
    with open(os.path.join(folder, "metrics.jsonl")) as file:
        objects = [json.loads(line) for line in file]
    expect([row["step"] for row in rows] == [str(one["step"]) for one in objects], "CSV and JSON differ")
    trained = [int(row["step"]) for row in rows if row["split"] == "train"]
    expect(trained == list(range(1, steps + 1)), f"metrics of steps {trained}")
    say("metrics", "Python's csv and json", f"{len(rows)} rows")


def check_killed(command, folder):
    """A run that is killed leaves files that can be read up to then."""
    run = subprocess.Popen([*command, "--steps=1000000", f"--log-dir={folder}"], stdout=subprocess.DEVNULL)
    path = os.path.join(folder, "metrics.csv")
    for _ in range(3000):
        if os.path.exists(path) and os.path.getsize(path) > 2000:
            break
        time.sleep(0.01)
    run.send_signal(signal.SIGKILL)
    run.wait()
    losses = read_events(folder).Scalars("loss/train")
    with open(path, newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["split"] == "train"]
    expect(len(losses) > 10 and abs(len(rows) - len(losses)) <= 1, f"{len(rows)} rows, {len(losses)} scalars")
    with open(os.path.join(folder, "metrics.jsonl")) as file:
        objects = [json.loads(line) for line in file]
    expect(len(objects) >= len(rows) - 1, "lines of JSON are missing")
    say("files of a killed run", "TensorBoard, csv, json", f"{len(losses)} steps")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--keep", help="write there, and leave it")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or temporary
        os.makedirs(folder, exist_ok=True)

        def path(name):
            return os.path.join(folder, name)

        subprocess.run([sys.executable, os.path.join(ROOT, "test/tools/Inputs/idx.py"), path("data")], check=True)
        tool = os.path.join(arguments.build, "bin/gc-run")
        command = [tool, os.path.join(ROOT, "models/convnet.mlir"), "--optimizer=adam", "--lr=0.125", "--no-calibrate",
                   f"--data=mnist:{path('data')}", "--shuffle", "--validation=0.25"]
        subprocess.run([*command, f"--steps={STEPS}", "--evaluate", f"--log-dir={path('log')}", f"--log-histograms={EVERY}", "--log-gradients",
                        f"--report={path('r.json')}", f"--html={path('page.html')}", f"--trace={path('trace.json')}",
                        f"--save={path('w.safetensors')}", f"--checkpoint={path('run')}", f"--checkpoint-every={EVERY}",
                        "--keep=all", "--quiet"], check=True)
        check_events(path("log"), STEPS)
        check_rows(path("log"), STEPS)
        shapes = check_tensors(path("w.safetensors"), "weights", ["fc.weight", "fc.bias"])
        with open(path("run/checkpoints.json")) as file:
            checkpoints = json.load(file)
        for entry in checkpoints["checkpoints"]:
            check_tensors(os.path.join(path("run"), entry["file"]), f"checkpoint {entry['step']}", shapes)
        subprocess.run([*command[:2], "--no-calibrate", f"--data=mnist:{path('data')}", "--evaluate-only", "--quiet",
                        f"--resume={path('run')}:best", f"--predict={path('p.safetensors')}"], check=True)
        answers = safetensors.numpy.load_file(path("p.safetensors"))
        expect(answers["logits"].shape == (80, 10) and answers["label"].dtype == numpy.int64, "predictions")
        say("predictions", f"safetensors {safetensors.__version__}", f"logits {answers['logits'].shape}")
        check_trace(path("trace.json"))
        check_page(path("page.html"))
        check_killed(command, path("killed"))


if __name__ == "__main__":
    main()
