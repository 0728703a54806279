"""Weights and batches from a formula instead of a file, so that a test in any language can make them.

    python hashed.py CASE FOLDER       # writes FOLDER/weights.safetensors and FOLDER/batch.safetensors
    python hashed.py --list

The formula is in README.md, "Hashed tensors".
"""

import argparse
import math
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file

import cases
import models

MASK = (1 << 64) - 1
CHUNK = 1 << 18  # a classifier of VGG has 10⁸ elements: keep the temporaries in the cache


def fnv1a(text):
    h = 0xCBF29CE484222325
    for byte in text.encode():
        h = ((h ^ byte) * 0x100000001B3) & MASK
    return h


def top_bits(seed, name, low, high):
    """The top 24 bits of splitmix64(fnv1a("seed:name") + i) for low <= i < high."""
    with np.errstate(over="ignore"):
        z = np.arange(low, high, dtype=np.uint64) + np.uint64(fnv1a(f"{seed}:{name}"))
        z += np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return ((z ^ (z >> np.uint64(31))) >> np.uint64(40)).astype(np.int64)


def uniform(seed, name, low, high):
    """u_i in [-1, 1), exact in float32; returned as float64."""
    return top_bits(seed, name, low, high) / float(1 << 23) - 1.0


def values(seed, name, count, offset=0.0, scale=1.0):
    """float32(offset + scale · u_i), the sum and product in float64."""
    out = np.empty(count, np.float32)
    for low in range(0, count, CHUNK):
        high = min(low + CHUNK, count)
        out[low:high] = offset + scale * uniform(seed, name, low, high)
    return out


def probe(seed, name, vector):
    """The dot product of `vector` (float64, file layout) with the hash vector of name + ".probe"."""
    total = 0.0
    for low in range(0, len(vector), CHUNK):
        high = min(low + CHUNK, len(vector))
        total += float(vector[low:high] @ uniform(seed, name + ".probe", low, high))
    return total


def offset_and_scale(name, shape, names, case):
    """value_i = offset + scale · u_i; `names` are those of all tensors of the network."""
    stem, _, kind = name.rpartition(".")
    if kind == "running_mean":
        return 0.0, 0.0
    if kind == "running_var":
        return 1.0, 0.0
    if len(shape) >= 2:
        return 0.0, math.sqrt(6.0 / math.prod(shape[1:]))
    last = case.residual_norm and stem.endswith(case.residual_norm)
    factor = case.residual_factor if last else 1.0
    if kind == "weight":
        return factor, 0.1 * factor
    if f"{stem}.running_mean" in names:
        return case.norm_bias * factor, 0.05 * factor
    return 0.0, 0.05


def tensor(seed, name, shape, names, case):
    offset, scale = offset_and_scale(name, shape, names, case)
    return torch.from_numpy(values(seed, name, math.prod(shape), offset, scale)).reshape(shape)


def weights(case, seed):
    with torch.device("meta"):
        shapes = {n: list(t.shape) for n, t in models.tensors(models.build(case.network, case.options)).items()}
    return {name: tensor(seed, name, shape, shapes, case) for name, shape in shapes.items()}


def batch(case, seed):
    shape = [case.batch] + models.input_shape(case.network, case.options)
    image = torch.from_numpy(values(seed, "image", math.prod(shape))).reshape(shape)
    label = torch.from_numpy(top_bits(seed, "label", 0, case.batch) % case.classes)
    return {"image": image, "label": label}


def write(case, seed, folder):
    """Writes both files; returns (weights, batch, weight path, batch path)."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    made_weights, made_batch = weights(case, seed), batch(case, seed)
    save_file(made_weights, folder / "weights.safetensors")
    save_file(made_batch, folder / "batch.safetensors")
    return made_weights, made_batch, folder / "weights.safetensors", folder / "batch.safetensors"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("case", nargs="?", choices=list(cases.CASES))
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--seed", type=int, help="default: the case's own")
    parser.add_argument("--list", action="store_true")
    args = parser.parse_args()
    if args.list or not args.case or not args.folder:
        for case in cases.CASES.values():
            print(f"{case.name:14} seed {case.seed:<3} gc-gen {' '.join(case.gen_arguments())}")
        return
    case = cases.CASES[args.case]
    _, _, weight_path, batch_path = write(case, case.seed if args.seed is None else args.seed, args.folder)
    print(weight_path)
    print(batch_path)


if __name__ == "__main__":
    main()
