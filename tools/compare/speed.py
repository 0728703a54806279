"""Times a training step of gc and of PyTorch side by side: one round is a few steps of each, in turn.

    python speed.py                      # the three cases; prints gc / PyTorch
    python speed.py --require            # exit 1 where a ratio is above 1
    python speed.py resnet-50 --profile  # with PyTorch's ops by self time
    python speed.py --torch-only
    python speed.py --against=OTHER      # another build of gc instead of PyTorch: before and after a change

Both sides: forward, backward, plain SGD, synthetic data, two threads. PyTorch: eager, channels-last. Only
one side runs at a time, and the order changes from round to round, so that a slow minute of the machine
meets both.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import gc_tools

CASES = {
    "mnist-224": ("mnist", {"image": 224, "norm": "batch"}, 128),
    "resnet-50": ("resnet", {"depth": 50, "image": 224}, 16),
    "vit-small": ("vit", {"size": "small", "image": 224}, 16),
}
LEARNING_RATE = 1e-3


class Worker:
    """torch_worker.py in its own process."""

    def __init__(self, network, options, batch, threads):
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("torch_worker.py"))], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=self.errors, text=True,
            env=dict(os.environ, OMP_NUM_THREADS=str(threads)))
        self.version = self.ask(network=network, options=options, batch=batch, threads=threads,
                                lr=LEARNING_RATE)["ready"]

    def ask(self, **command):
        try:
            self.process.stdin.write(json.dumps(command) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # the empty answer below tells
        answer = self.process.stdout.readline()
        if not answer:
            self.errors.seek(0)
            raise RuntimeError(f"the PyTorch worker stopped:\n{self.errors.read()[-2000:]}")
        return json.loads(answer)

    def steps(self, count):
        return self.ask(do="steps", count=count)["seconds"]

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.errors.close()


def gc_steps(args, build, model, folder):
    """Seconds of each step of one gc-run, the warm-up dropped, and the report."""
    report = gc_tools.run(build, model, [
        "--data=synthetic", f"--steps={args.warmup + args.steps}", "--optimizer=sgd", f"--lr={LEARNING_RATE}",
        f"--threads={args.threads}"], folder / "report.json")
    return report["step_seconds"]["all"][args.warmup:], report


def measure(name, args, folder):
    network, options, batch = CASES[name]
    worker = Worker(network, options, batch, args.threads)
    result = {"case": name, "torch": worker.version, "threads": args.threads, "rounds": []}
    worker.steps(args.warmup)
    if not args.torch_only:
        arguments = [network] + [f"--{k}={v}" for k, v in options.items()] + [f"--batch={batch}"]
        model = gc_tools.generate(args.build, arguments, folder / "model.mlir")
    for number in range(args.rounds):
        entry = {"load": os.getloadavg()[0]}

        def run_torch():
            entry["torch"] = worker.steps(args.steps)

        def run_gc():
            entry["gc"], result["gc_report"] = gc_steps(args, args.build, model, folder)

        sides = [run_torch] if args.torch_only else [run_torch, run_gc]
        for side in sides if number % 2 == 0 else reversed(sides):
            side()
        result["rounds"].append(entry)
    result["torch_memory"] = worker.ask(do="memory")
    if args.profile:
        result["torch_profile"] = worker.ask(do="profile")
    worker.close()
    return result


def compare_builds(name, args, folder):
    """Prints the medians of two builds of gc, run in turn, and their ratio; returns all seconds."""
    network, options, batch = CASES[name]
    arguments = [network] + [f"--{k}={v}" for k, v in options.items()] + [f"--batch={batch}"]
    model = gc_tools.generate(args.against, arguments, folder / "model.mlir")
    sides = {"before": args.against, "after": args.build}
    rounds = []
    for number in range(args.rounds):
        entry = {"load": os.getloadavg()[0]}
        for side in sorted(sides, reverse=number % 2 == 0):
            entry[side], _ = gc_steps(args, sides[side], model, folder)
        rounds.append(entry)
    before, after = median_of(rounds, "before"), median_of(rounds, "after")
    each = [statistics.median(r["after"]) / statistics.median(r["before"]) for r in rounds]
    print(f"{name:10} before {before * 1e3:9.1f} ms   after {after * 1e3:9.1f} ms   after / before "
          f"{after / before:.3f}   by round {min(each):.3f} … {max(each):.3f}   "
          f"load {max(r['load'] for r in rounds):.1f}", flush=True)
    return {"case": name, "rounds": rounds}


def median_of(rounds, side):
    return statistics.median(s for r in rounds for s in r[side])


def show(result):
    """Prints one case; returns gc / PyTorch, or None without gc."""
    rounds, memory, ratio = result["rounds"], result["torch_memory"], None
    for side in ("torch", "gc"):
        if side in rounds[0]:
            seconds = [s for r in rounds for s in r[side]]
            print(f"{result['case']:10} {side:6} median {statistics.median(seconds) * 1e3:9.1f} ms   "
                  f"{min(seconds) * 1e3:9.1f} … {max(seconds) * 1e3:9.1f} ms   {len(seconds)} steps")
    if "gc" in rounds[0]:
        ratio = median_of(rounds, "gc") / median_of(rounds, "torch")
        each = [statistics.median(r["gc"]) / statistics.median(r["torch"]) for r in rounds]
        print(f"{result['case']:10} gc / PyTorch {ratio:.3f}   by round {min(each):.3f} … {max(each):.3f}")
    line = (f"{result['case']:10} peak memory: PyTorch {memory['peak_bytes'] / 2**20:.1f} MiB "
            f"(kept {memory['kept_bytes'] / 2**20:.1f} + allocator {memory['allocator_peak_bytes'] / 2**20:.1f})")
    if "gc_report" in result:
        line += f", gc {result['gc_report']['memory']['measured_peak_bytes'] / 2**20:.1f} MiB"
    print(line)
    load = max(r["load"] for r in rounds)
    if load > result["threads"] + 0.5:
        print(f"{result['case']:10} the machine was busy (load {load:.1f}): do not quote these figures")
    if "torch_profile" in result:
        print(f"{result['case']:10} PyTorch's ops, self CPU time a step "
              f"({result['torch_profile']['step_ms']:.1f} ms):")
        for op in result["torch_profile"]["ops"]:
            print(f"    {op['ms']:9.2f} ms {op['calls']:7.1f} calls  {op['op']}")
    sys.stdout.flush()
    return ratio


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"of {', '.join(CASES)} (default: all)")
    gc_tools.add_build_option(parser)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--steps", type=int, default=5, help="steps of each side in a round (default: 5)")
    parser.add_argument("--warmup", type=int, default=2, help="first steps of a run, not counted (default: 2)")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--against", type=Path, metavar="BUILD", help="another build folder of gc, instead of PyTorch")
    parser.add_argument("--torch-only", action="store_true", help="do not run gc")
    parser.add_argument("--profile", action="store_true", help="also PyTorch's ops by self CPU time")
    parser.add_argument("--require", action="store_true", help="exit 1 where gc is slower")
    parser.add_argument("--json", type=Path, help="all measurements into this file")
    args = parser.parse_args()
    unknown = set(args.cases) - set(CASES)
    if unknown:
        parser.error(f"unknown case {', '.join(sorted(unknown))}; known: {', '.join(CASES)}")
    results, slower = [], []
    for name in args.cases or CASES:
        with tempfile.TemporaryDirectory() as folder:
            if args.against:
                results.append(compare_builds(name, args, Path(folder)))
                continue
            results.append(measure(name, args, Path(folder)))
        ratio = show(results[-1])
        if ratio is not None and ratio > 1:
            slower.append(name)
    if args.json:
        args.json.write_text(json.dumps(results, indent=1))
    if slower:
        print(f"slower than PyTorch: {', '.join(slower)}")
    return 1 if args.require and slower else 0


if __name__ == "__main__":
    sys.exit(main())
