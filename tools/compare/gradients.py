"""Compares gc's loss, gradients, updated weights and running statistics with PyTorch's in float64.

    python gradients.py                       # every case; exit 1 where one fails
    python gradients.py resnet-18 vit-tiny -v # these, with the worst tensors listed
    python gradients.py --torch-only          # PyTorch's own float32 errors, without gc

The truth is float64; the yardstick is PyTorch's own float32 error on the same weights and batch. Errors
are ‖g − g64‖ / ‖g64‖ by tensor (against the network's typical gradient where g64 is zero).
"""

import argparse
import dataclasses
import statistics
import sys
import tempfile
import time
from pathlib import Path

import torch
from safetensors.torch import load_file

import cases
import gc_tools
import hashed
import step

# The thresholds of the issue that asked for this comparison.
MEDIAN_FACTOR = 5.0  # median tensor: at most this times PyTorch's own median error
WORST = 2e-2  # no tensor above
SMALL, SMALL_SHARE = 1e-3, 0.90  # this share of the tensors below
HALF_MEDIAN_FACTOR = 1.5  # of bf16 against PyTorch's bf16 autocast, and nothing but the median


def run_gc(case, build, folder, threads, precision):
    """One step of gc-run on the files in `folder`, as a Step."""
    model = gc_tools.generate(build, case.gen_arguments(), folder / "model.mlir")
    report = gc_tools.run(build, model, [
        f"--data={folder / 'batch.safetensors'}", f"--load={folder / 'weights.safetensors'}",
        f"--dump-gradients={folder / 'gradients.safetensors'}", f"--save={folder / 'after.safetensors'}",
        "--steps=1", "--optimizer=sgd", f"--lr={case.learning_rate}", f"--threads={threads}",
        f"--precision={precision}",
    ], folder / "report.json")
    gradients = {n: t.double() for n, t in load_file(folder / "gradients.safetensors").items()}
    after = {n: t.double() for n, t in load_file(folder / "after.safetensors").items()}
    return step.Step(report["loss"][0], gradients, {n: t for n, t in after.items() if n in gradients},
                     {n: t for n, t in after.items() if n not in gradients})


def names_and_shapes(ours, truth):
    """What a comparison by name would trip over."""
    for kind in ("gradients", "weights", "statistics"):
        got, want = getattr(ours, kind), getattr(truth, kind)
        for name in sorted(want.keys() - got.keys()):
            yield f"{kind}: {name} is missing"
        for name in sorted(got.keys() - want.keys()):
            yield f"{kind}: {name} is not PyTorch's"
        for name in sorted(got.keys() & want.keys()):
            if got[name].shape != want[name].shape:
                yield f"{kind}: {name} is {list(got[name].shape)}, PyTorch's is {list(want[name].shape)}"


def verdict(errors, own, precision):
    """The thresholds that a group of tensors misses."""
    median, own_median = statistics.median(errors.values()), statistics.median(own.values())
    if precision != "f32":
        met = median <= HALF_MEDIAN_FACTOR * own_median
        return [] if met else [f"median above {HALF_MEDIAN_FACTOR:g}× PyTorch's"]
    worst = max(errors, key=errors.get)
    share = sum(e < SMALL for e in errors.values()) / len(errors)
    missed = []
    if not median <= MEDIAN_FACTOR * own_median:
        missed.append(f"median above {MEDIAN_FACTOR:g}× PyTorch's")
    if not all(e <= WORST for e in errors.values()):  # also false for NaN
        missed.append(f"{worst} above {WORST:g}")
    if share < SMALL_SHARE:
        missed.append(f"only {share:.0%} below {SMALL:g}")
    return missed


def row(label, errors, own, judged, precision="f32"):
    own_median = statistics.median(own.values())
    if errors is None:
        worst = max(own, key=own.get)
        print(f"  {label:11} {'—':>9} {own_median:9.1e} {'':>7} {own[worst]:9.1e} {'':>7}  {worst}")
        return []
    median, worst = statistics.median(errors.values()), max(errors, key=errors.get)
    share = sum(e < SMALL for e in errors.values()) / len(errors)
    missed = verdict(errors, own, precision) if judged else []
    print(f"  {label:11} {median:9.1e} {own_median:9.1e} {median / max(own_median, 1e-30):6.2f}× "
          f"{errors[worst]:9.1e} {share:7.1%}  {worst}{'  FAILED: ' + ', '.join(missed) if missed else ''}")
    return missed


def compare(case, args, folder):
    """Prints the case's table; returns what it misses."""
    start = time.perf_counter()
    weights, batch, _, _ = hashed.write(case, case.seed, folder)
    truth = step.truth_of(case, weights, batch)
    single = step.train_once(case, weights, batch, torch.float32,
                             autocast=torch.bfloat16 if args.precision == "bf16" else None)
    name = "float32" if args.precision == "f32" else "bf16 autocast"
    own = step.relative_errors(single, truth)
    print(f"{case.name}: {' '.join(case.gen_arguments())}, seed {case.seed}")
    print(f"  {'':11} {'gc':>9} {'PyTorch':>9} {'ratio':>7} {'worst':>9} {'<' + format(SMALL, 'g'):>7}  worst tensor")
    own_loss = abs(single.loss - truth.step.loss)
    missed, errors = [], {kind: None for kind in own}
    if args.torch_only:
        print(f"  {'loss':11} {truth.step.loss:.9g}, PyTorch's {name} is off by {own_loss:.1e}")
        last = step.train_once(case, weights, batch, torch.float32, channels_last=True)
        last_errors = step.relative_errors(last, truth)
    else:
        ours = run_gc(case, args.build, folder, args.threads, args.precision)
        missed = list(names_and_shapes(ours, truth.step))
        # One rounding of the loss is what PyTorch may hit by luck; allow the median-tensor factor above it.
        rounding = 1e-6 if args.precision == "f32" else 2 ** -8
        allowed = MEDIAN_FACTOR * max(own_loss, rounding * abs(truth.step.loss))
        off = abs(ours.loss - truth.step.loss)
        print(f"  {'loss':11} {truth.step.loss:.9g}, gc is off by {off:.1e}, PyTorch's {name} by {own_loss:.1e}")
        if not off <= allowed:
            missed.append(f"loss is off by {off:.1e}, allowed {allowed:.1e}")
        if not missed or not any("missing" in m or " is [" in m for m in missed):
            errors = step.relative_errors(ours, truth)
    for kind, own_errors in own.items():
        if not own_errors:
            continue
        missed += row(kind, errors[kind], own_errors, judged=True, precision=args.precision)
        if args.torch_only:
            row("  NHWC", last_errors[kind], own_errors, judged=False)
        elif args.verbose and errors[kind]:
            for name in sorted(errors[kind], key=errors[kind].get, reverse=True)[:8]:
                print(f"    {errors[kind][name]:9.1e} {own_errors[name]:9.1e}  {name}")
    for line in missed:
        print(f"  FAILED: {line}")
    print(f"  {'passed' if not missed else 'failed'} in {time.perf_counter() - start:.1f} s", flush=True)
    return missed


def changed(case, args):
    """The case with what the command line replaces."""
    options = case.options if args.image is None else {**case.options, "image": args.image}
    return dataclasses.replace(case, options=options, batch=args.batch or case.batch,
                               seed=case.seed if args.seed is None else args.seed)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", metavar="CASE", help="default: all; hashed.py --list names them")
    gc_tools.add_build_option(parser)
    parser.add_argument("--threads", type=int, default=2, help="of gc-run (default: 2)")
    parser.add_argument("--precision", choices=["f32", "bf16"], default="f32",
                        help="bf16: --precision of gc-run; the yardstick is PyTorch's bf16 autocast")
    parser.add_argument("--seed", type=int, help="instead of the case's own")
    parser.add_argument("--image", type=int, help="instead of the case's own; a seed fits one size only")
    parser.add_argument("--batch", type=int, help="likewise")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep weights, batch and results there")
    parser.add_argument("--torch-only", action="store_true", help="do not run gc")
    parser.add_argument("-v", "--verbose", action="store_true", help="list the worst tensors")
    args = parser.parse_args()
    unknown = set(args.cases) - set(cases.CASES)
    if unknown:
        parser.error(f"unknown case {', '.join(sorted(unknown))}; known: {', '.join(cases.CASES)}")
    if not args.torch_only:
        for name in ("gc-gen", "gc-run"):
            gc_tools.tool(args.build, name)
    torch.set_num_threads(1)  # small work: more threads only wait for each other on a busy machine
    failed = []
    for name in args.cases or cases.CASES:
        with tempfile.TemporaryDirectory() as scratch:
            folder = args.keep / name if args.keep else Path(scratch)
            try:
                missed = compare(changed(cases.CASES[name], args), args, folder)
            except RuntimeError as problem:
                print(f"  FAILED: {problem}")
                missed = [str(problem)]
        if missed:
            failed.append(name)
    print(f"{len(args.cases or cases.CASES) - len(failed)} passed, {len(failed)} failed"
          + (f": {', '.join(failed)}" if failed else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
