"""Pins each case's float64 loss, gradients and running statistics for the tests that run without PyTorch.

    python pin.py                     # writes ../../test/models/pinned/CASE.json for every case
    python pin.py --check vit-tiny    # recomputes and compares with the stored file; exit 1 on a difference
    python pin.py --search=20 cnn11   # ranks seeds: no ReLU or pool near its kink, small float32 error

The format is in README.md, "Pinned values".
"""

import argparse
import json
import statistics
import sys
from pathlib import Path

import numpy as np
import torch

import cases
import hashed
import kinks
import models
import step

DEFAULT_OUT = Path(__file__).resolve().parents[2] / "test" / "models" / "pinned"
FORMAT = 1


def digits(value, count=9):
    return float(f"{value:.{count}g}")


def summary(seed, name, tensor):
    """(norm, sum, probe) of a tensor in file layout."""
    vector = tensor.contiguous().numpy().reshape(-1)
    return np.array([np.linalg.norm(vector), vector.sum(), hashed.probe(seed, name, vector)])


def error(got, expected, size):
    """The pinned error of a tensor: its worst number, against the size of the tensor."""
    return float(np.abs(got - expected).max() / size)


def pinned(case):
    weights, batch = hashed.weights(case, case.seed), hashed.batch(case, case.seed)
    truth = step.truth_of(case, weights, batch)
    single = step.train_once(case, weights, batch, torch.float32)
    zeros, typical = step.zero_gradients(truth.step)
    gradients, stats = {}, {}
    for name, g in truth.step.gradients.items():
        exact = summary(case.seed, name, g)
        size = typical * g.numel() ** 0.5 if name in zeros else exact[0]
        own = error(summary(case.seed, name, single.gradients[name]), exact, size)
        change = (single.weights[name] - weights[name].double()) / -case.learning_rate
        own_update = error(summary(case.seed, name, change), exact, size)
        if name in zeros:
            exact = np.zeros(3)
        gradients[name] = [*map(digits, exact), digits(own, 3), digits(own_update, 3)]
    for name, s in truth.step.statistics.items():
        exact = summary(case.seed, name, s)
        own = error(summary(case.seed, name, single.statistics[name]), exact, exact[0])
        stats[name] = [*map(digits, exact), digits(own, 3)]
    return {
        "format": FORMAT, "case": case.name, "gen": case.gen_arguments(), "seed": case.seed,
        "learning_rate": case.learning_rate,
        "residual_norm": case.residual_norm, "residual_factor": case.residual_factor, "norm_bias": case.norm_bias,
        "image": [case.batch] + models.input_shape(case.network, case.options), "classes": case.classes,
        "made_with": f"torch {torch.__version__}",
        "loss": [digits(truth.step.loss), digits(abs(single.loss - truth.step.loss), 3)],
        "typical_gradient": digits(typical),
        "gradients": gradients, "statistics": stats,
    }


def render(pin):
    """JSON with one tensor a line: small, and a changed tensor is a changed line."""
    parts = []
    for key, value in pin.items():
        if key in ("gradients", "statistics") and value:
            rows = ",\n".join(f"  {json.dumps(n)}: {json.dumps(v, separators=(',', ':'))}" for n, v in value.items())
            parts.append(f'"{key}": {{\n{rows}\n}}')
        else:
            parts.append(f'"{key}": {json.dumps(value)}')
    return "{\n" + ",\n".join(parts) + "\n}\n"


def differences(new, old):
    """Where two pins differ by more than float64 rounding leaves in nine digits."""
    for key in ("case", "gen", "seed", "learning_rate", "residual_norm", "residual_factor", "norm_bias",
                "image", "classes"):
        if new[key] != old[key]:
            yield f"{key}: {old[key]} became {new[key]}"
    if not np.isclose(new["loss"][0], old["loss"][0], rtol=3e-9):
        yield f"loss: {old['loss'][0]} became {new['loss'][0]}"
    for group in ("gradients", "statistics"):
        if new[group].keys() != old[group].keys():
            yield f"{group}: other names"
            continue
        for name, row in new[group].items():
            size = max(abs(row[0]), new["typical_gradient"])
            if np.abs(np.array(row[:3]) - np.array(old[group][name][:3])).max() > 3e-8 * max(size, abs(row[1])):
                yield f"{group} {name}: {old[group][name][:3]} became {row[:3]}"


def search(case, count, keep=3):
    """Seeds whose units are farthest from their kinks first, then PyTorch's own errors on the best of them."""
    found = []
    for seed in range(1, count + 1):
        safety = kinks.safety(case, hashed.weights(case, seed), hashed.batch(case, seed))
        found.append((safety, seed))
        print(f"{case.name:12} seed {seed:<3} safety {safety:.2g}", flush=True)
    for safety, seed in sorted(found, reverse=True)[:keep]:
        weights, batch = hashed.weights(case, seed), hashed.batch(case, seed)
        truth = step.truth_of(case, weights, batch)
        line = f"{case.name:12} seed {seed:<3} safety {safety:.2g}"
        for layout in (False, True):
            single = step.train_once(case, weights, batch, torch.float32, channels_last=layout)
            errors = step.relative_errors(single, truth)["gradients"].values()
            label = "channels-last" if layout else "contiguous"
            line += f"  {label}: median {statistics.median(errors):.1e} worst {max(errors):.1e}"
        print(line, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", metavar="CASE", help="default: all")
    parser.add_argument("--out", type=Path, default=DEFAULT_OUT)
    parser.add_argument("--check", action="store_true", help="compare with the stored files, write nothing")
    parser.add_argument("--search", type=int, metavar="N", help="rank the seeds 1 … N, write nothing")
    args = parser.parse_args()
    unknown = set(args.cases) - set(cases.CASES)
    if unknown:
        parser.error(f"unknown case {', '.join(sorted(unknown))}; known: {', '.join(cases.CASES)}")
    torch.set_num_threads(1)  # sums in one order, whatever the machine
    failed = 0
    for name in args.cases or cases.CASES:
        case = cases.CASES[name]
        if args.search:
            search(case, args.search)
            continue
        pin, path = pinned(case), args.out / f"{name}.json"
        if args.check:
            found = list(differences(pin, json.loads(path.read_text())))
            print(f"{name:12} {'as stored' if not found else 'DIFFERS'}")
            for line in found[:10]:
                print("  " + line)
            failed += bool(found)
        else:
            args.out.mkdir(parents=True, exist_ok=True)
            path.write_text(render(pin))
            print(f"{path}: loss {pin['loss'][0]}, {len(pin['gradients'])} gradients, "
                  f"{len(pin['statistics'])} statistics, {path.stat().st_size} bytes", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
