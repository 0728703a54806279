"""What tools/study does: reads the command line, runs the study, draws what came out."""

import fnmatch
import importlib
import signal
import sys
from dataclasses import dataclass
from pathlib import Path

from . import arguments, cnn_checkpoints, mnist_grid, resnet_budgets
from .allowance import SIZES
from .columns import FAILED_ROW
from .gc_tools import Tools, check_target, find_tools, has_gpu
from .machine import commit, this_machine, versions
from .problem import FAILED, Ended, Problem
from .processes import Processes
from .progress import Progress
from .runner import Runner
from .setting import Setting
from .store import Store, check_origin, latest, lock_folder, read_rows

MODULES = {module.NAME: module for module in (mnist_grid, cnn_checkpoints, resnet_budgets)}


@dataclass
class RunOptions:
    folder: Path
    data: str
    limit: int
    retry: bool
    measures: bool
    why_not_measured: str = ""
    library: str = ""  # what --cuda-library is, where it is not the default


def chosen_settings(study, pattern):
    settings = list(study.settings())
    if not pattern:
        return settings
    chosen = [s for s in settings if fnmatch.fnmatchcase(s.name, pattern)]
    if not chosen:
        raise Problem(f"--only={pattern}: no setting of {study.NAME} matches; --list names them, such as "
                      f"{settings[0].name}")
    return chosen


def make_folder(folder):
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / ".lock").touch()
    except OSError as error:
        raise Problem(f"--output={folder}: cannot be written: {error.strerror}") from None


def choose_device(args, study, tools_for):
    """The device as rows name it, the --target to compile for, and whether runs are possible."""
    if args.device == "cpu":
        return "cpu", "", True
    probe = Setting("probe", "mnist", ("mnist", "--batch=4"), "none", 4)
    if not args.target and has_gpu(tools_for("cuda", ""), probe):
        return "cuda", "", True
    target = args.target or study.DEFAULT_CUDA_TARGET
    check_target(tools_for("cuda", target), probe, target)
    return f"cuda:{target}", target, False


def check_data(tools, data):
    """--full must not find out after hours that its images are not there."""
    model = arguments.ROOT / "models" / "convnet.mlir"  # compiles in no time
    done = tools.run("gc-run", model, f"--data={data}", "--steps=1", seconds=600)
    if done.code:
        raise Problem(f"--full trains on --data={data}, and that fails: {done.reason()}")


def run_study(args, study, settings, progress):
    """Leaves a row for each of the settings; whether any of them came to more than a failure."""
    find_tools(args.bin)
    make_folder(args.folder)
    lock = lock_folder(args.folder)
    machine, processes = this_machine(), Processes(lock)
    work = args.folder.resolve() / ".work"
    # cuDNN plans its graphs for seconds in each compilation: more than a quick study has.
    library = "none" if args.device == "cuda" and args.size == "quick" else ""
    tools_for = lambda device, target: Tools(args.bin.resolve(), work, processes, device, target,
                                             library if device == "cuda" else "")
    tools = tools_for("cpu", "")
    stores = []
    try:
        paths = [args.folder / name for name in ("results.csv", "predictions.csv")]
        for path in paths:
            check_origin(path, read_rows(path)[0], study.NAME, machine)
        results, predictions = stores = [Store(path, progress.say) for path in paths]
        tools.open()
        device, target, measures = choose_device(args, study, tools_for)
        tools = tools_for(args.device, target)
        if args.size == "full" and measures and study.NAME == mnist_grid.NAME:
            check_data(tools, args.data)
        origin = {"study": study.NAME, "device": device, "machine": machine.name, "cores": machine.cores,
                  "memory_bytes": machine.memory_bytes, "versions": versions(args.bin),
                  "commit": commit(arguments.ROOT)}
        older = {row["commit"] for row in results.rows} - {origin["commit"]}
        if older:
            progress.say(f"note: {paths[0]} has rows of other commits ({', '.join(sorted(older))}); each row names its own")
        options = RunOptions(args.folder, args.data, args.limit, args.retry, measures,
                             "" if measures else f"no GPU here: predicted for {target}", library)
        runner = Runner(study, settings, tools, results, predictions, progress, SIZES[args.size], origin, options)
        runner.run()
        last = latest(results.rows, device)
        tell_counts(list(last.values()), paths[0], progress)
        return any(last[setting.name]["how"] != FAILED_ROW for setting in settings)
    finally:
        processes.close()
        tools.close()
        for store in stores:
            store.close()
        lock.close()


def tell_counts(rows, path, progress):
    counts = {}
    for row in rows:
        counts[row["how"]] = counts.get(row["how"], 0) + 1
    progress.say(f"{path}: " + ", ".join(f"{count} {how}" for how, count in sorted(counts.items())))
    for row in rows:
        if row["how"] == FAILED_ROW:
            progress.say(f"warning: {row['setting']} failed: {row['why']}")


def draw(args, study, progress):
    path = args.folder / "results.csv"
    rows, size = read_rows(path)
    if not rows:
        raise Problem(f"{path}: there are no rows to draw; run tools/study {study.NAME} first, or name its folder with "
                      "--output=DIR")
    check_origin(path, rows, study.NAME)
    if path.stat().st_size > size:
        progress.say(f"note: {path}: its last row is not written to its end and is left out")
    try:
        presentation = importlib.import_module("studies.presentation")
    except ModuleNotFoundError as error:
        if error.name != "matplotlib":
            raise
        raise Problem("figures need matplotlib: apt-get install python3-matplotlib, then run again with --draw") from None
    for written in presentation.present(study.NAME, args.folder, rows, progress):
        progress.say(f"wrote {written}")


def study_main(words):
    progress = Progress()
    args = arguments.parse(words)
    if args.help:
        print(arguments.HELP, end="")
        return
    study = MODULES[args.study]
    settings = chosen_settings(study, args.only)
    if args.list:
        print("\n".join(setting.name for setting in settings))
        return
    came_out = args.draw or run_study(args, study, settings, progress)
    if not args.rows_only:
        draw(args, study, progress)
    if not came_out:
        raise Problem("every setting failed; --retry measures them again", FAILED)


def ended_by(number, _frame):
    # A second signal must not interrupt the first one's clearing up.
    for other in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(other, signal.SIG_IGN)
    raise Ended(number)


def main(words):
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, ended_by)
    try:
        study_main(words)
        return 0
    except Problem as problem:
        print(f"study: {problem}", file=sys.stderr)
        return problem.code
    except Ended as ended:
        print(f"\nstudy: ended by {signal.Signals(ended.code - 128).name}; rows so far are kept, run again to go on",
              file=sys.stderr)
        return ended.code
    except BrokenPipeError:
        return 141
