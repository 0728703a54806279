"""Trains mnist-112 on Fashion-MNIST with PyTorch and with gc and compares the test accuracy.

    python learn.py --seeds=1,2                 # both sides, two epochs each; exit 1 below --minimum
    python learn.py --side=torch --epochs=1 --limit=6400
"""

import argparse
import gzip
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import torch

import gc_tools
import models

PACKAGE = "dataset-fashion-mnist"


def data_folder(given):
    """The folder asked for, or where Debian's package has its files."""
    if given:
        return given
    try:
        listed = subprocess.run(["dpkg", "-L", PACKAGE], capture_output=True, text=True).stdout.splitlines()
    except FileNotFoundError:  # not a Debian system
        listed = []
    for line in listed:
        if line.endswith("train-images-idx3-ubyte.gz"):
            return Path(line).parent
    sys.exit(f"no Fashion-MNIST: install {PACKAGE}, or name a folder of IDX files with --data")


def idx(path):
    """An IDX file of bytes as an array."""
    raw = gzip.decompress(path.read_bytes())
    dimensions = raw[3]
    shape = np.frombuffer(raw, ">i4", dimensions, offset=4)
    return torch.from_numpy(np.frombuffer(raw, np.uint8, offset=4 + 4 * dimensions).reshape(shape).copy())


def batches(folder, split, size, order=None, limit=None):
    """(image, label) at 112², resized bilinearly and normalized to mean 0.5, deviation 0.5."""
    images, labels = idx(folder / f"{split}-images-idx3-ubyte.gz"), idx(folder / f"{split}-labels-idx1-ubyte.gz")
    chosen = torch.arange(min(limit or len(labels), len(labels)))
    if order is not None:
        chosen = chosen[torch.randperm(len(chosen), generator=order)]
    for part in chosen.split(size):
        image = images[part].unsqueeze(1).float() / 255
        image = torch.nn.functional.interpolate(image, size=112, mode="bilinear", align_corners=False)
        yield (image - 0.5) / 0.5, labels[part].long()


def learn_torch(args, seed):
    torch.manual_seed(seed)
    folder, order = data_folder(args.data), torch.Generator().manual_seed(seed)
    model = models.mnist(112).to(memory_format=torch.channels_last)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(args.epochs):
        start, total, count = time.perf_counter(), 0.0, 0
        model.train()
        for image, label in batches(folder, "train", 128, order, args.limit):
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(image), label)
            loss.backward()
            optimizer.step()
            total, count = total + loss.item(), count + 1
        model.eval()
        with torch.no_grad():
            right = [(model(i).argmax(1) == l).float() for i, l in batches(folder, "t10k", 500)]
        accuracy = torch.cat(right).mean().item()
        print(f"torch seed {seed} epoch {epoch + 1}: loss {total / count:.4f}, test accuracy {accuracy:.2%}, "
              f"{time.perf_counter() - start:.0f} s", flush=True)
    return accuracy


def learn_gc(args, seed):
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        model = gc_tools.generate(args.build, ["mnist", "--image=112", "--batch=128"], folder / "model.mlir")
        arguments = ["--data=fashion-mnist" if not args.data else f"--data=mnist:{args.data}",
                     f"--epochs={args.epochs}", "--shuffle", f"--seed={seed}", "--optimizer=adam", "--lr=0.001",
                     "--evaluate"]
        if args.limit:
            arguments.append(f"--limit={args.limit}")
        report = gc_tools.run(args.build, model, arguments, folder / "report.json")
    print(f"gc    seed {seed}: last loss {report['loss'][-1]:.4f}, test accuracy {report['test_accuracy']:.2%}",
          flush=True)
    return report["test_accuracy"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    gc_tools.add_build_option(parser)
    parser.add_argument("--data", type=Path, help=f"folder of IDX files (default: the package {PACKAGE})")
    parser.add_argument("--side", choices=["both", "torch", "gc"], default="both")
    parser.add_argument("--seeds", default="1", help="comma-separated (default: 1)")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--limit", type=int, help="train on the first N samples")
    parser.add_argument("--minimum", type=float, default=0.885, help="gc's test accuracy on every seed")
    args = parser.parse_args()
    failed = 0
    for seed in map(int, args.seeds.split(",")):
        if args.side != "gc":
            learn_torch(args, seed)
        if args.side != "torch":
            failed += not learn_gc(args, seed) >= args.minimum
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
