"""ResNet-18 on Fashion-MNIST at 64² by one recipe, trained by PyTorch and by gc with several seeds: the test accuracies.

    python recipe.py                                  # three seeds, six epochs of 60,000 samples: hours on two cores
    python recipe.py --limit=12800 --epochs=4         # the same with less
    python recipe.py --seeds=1 --side=gc --require    # exit 1 where gc's mean is further from PyTorch's than the seeds spread

The recipe: SGD with Nesterov momentum 0.9, weight decay 5e-4 on all but norms and biases, label smoothing 0.1, a cosine from 0.05 to 0 after a warm-up
of a tenth of the steps, batch 128; images are resized to 64² (bilinear), flipped, shifted by up to four pixels, and normalized to mean 0.5,
deviation 0.5. Both sides draw initial weights, order and augmentations from generators of their own, so single runs differ: what a seed makes of the
accuracy is the measure. Seeds and sides take turns, so that a run that is ended has pairs. Results are appended to --csv as they come, and runs that are
there already are not repeated.
"""

import argparse
import csv
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

import torch
import torchvision
from torch.nn import functional

import gc_tools
from learn import data_folder, idx

SIZE, BATCH, SHIFT, RATE, DECAY, SMOOTHING = 64, 128, 4, 0.05, 5e-4, 0.1


def resized(images):
    """Bytes as values in [0, 1] at the model's size, in three equal channels."""
    image = functional.interpolate(images.unsqueeze(1).float() / 255, size=SIZE, mode="bilinear", align_corners=False)
    return image.expand(-1, 3, -1, -1)


def normalized(image):
    return ((image - 0.5) / 0.5).contiguous(memory_format=torch.channels_last)


def augmented(image, generator):
    """Each sample flipped or not, and moved within black."""
    count = len(image)
    flips = torch.rand(count, generator=generator) < 0.5
    image = torch.where(flips[:, None, None, None], image.flip(3), image)
    padded = functional.pad(image, [SHIFT] * 4)
    moves = torch.randint(2 * SHIFT + 1, (count, 2), generator=generator).tolist()
    return torch.stack([padded[i, :, y:y + SIZE, x:x + SIZE] for i, (y, x) in enumerate(moves)])


def steps_of(args):
    return args.limit // BATCH * args.epochs


def warmup_of(args):
    return steps_of(args) // 10


def optimizer_of(model, args):
    groups = [dict(params=[p for p in model.parameters() if p.dim() > 1], weight_decay=DECAY),
              dict(params=[p for p in model.parameters() if p.dim() == 1], weight_decay=0.0)]
    optimizer = torch.optim.SGD(groups, RATE, momentum=0.9, nesterov=True)
    warmup = warmup_of(args)
    schedules = torch.optim.lr_scheduler
    return optimizer, schedules.SequentialLR(optimizer, [
        schedules.LinearLR(optimizer, 1 / (warmup + 1), 1, warmup),
        schedules.CosineAnnealingLR(optimizer, steps_of(args) - warmup)], [warmup])


def learn_torch(args, seed):
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    folder = data_folder(args.data)
    images, labels = (idx(folder / f"train-{name}-ubyte.gz")[:args.limit] for name in ("images-idx3", "labels-idx1"))
    model = torchvision.models.resnet18(num_classes=10).to(memory_format=torch.channels_last)
    optimizer, schedule = optimizer_of(model, args)
    for _ in range(args.epochs):
        model.train()
        order = torch.randperm(args.limit, generator=generator)[:args.limit // BATCH * BATCH]
        for part in order.split(BATCH):
            optimizer.zero_grad()
            output = model(normalized(augmented(resized(images[part]), generator)))
            functional.cross_entropy(output, labels[part].long(), label_smoothing=SMOOTHING).backward()
            optimizer.step()
            schedule.step()
    model.eval()
    tests, expected = (idx(folder / f"t10k-{name}-ubyte.gz") for name in ("images-idx3", "labels-idx1"))
    with torch.no_grad():
        right = [(model(normalized(resized(tests[i:i + 500]))).argmax(1) == expected[i:i + 500]).float()
                 for i in range(0, len(tests), 500)]
    return torch.cat(right).mean().item()


def learn_gc(args, seed):
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        model = gc_tools.generate(args.build, ["resnet", "--depth=18", f"--image={SIZE}", f"--batch={BATCH}", "--classes=10"],
                                  folder / "model.mlir")
        data = f"--data=mnist:{args.data}" if args.data else "--data=fashion-mnist"
        weights = folder / "weights.safetensors"
        plan = folder / "plan"
        gc_tools.call([gc_tools.tool(args.build, "gc-compile"), str(model), "-o", str(plan), "--evaluate", "--momentum=0.9", "--nesterov",
                       f"--lr={RATE}", f"--weight-decay={DECAY}", "--no-decay=*.bias,*bn?.*,*.downsample.1.*",
                       f"--label-smoothing={SMOOTHING}"], stdout=open(os.devnull, "w"))
        gc_tools.run(args.build, plan, [
            data, f"--epochs={args.epochs}", f"--limit={args.limit}", "--shuffle", f"--seed={seed}", "--schedule=cosine",
            f"--warmup={warmup_of(args)}", f"--augment=flip,shift-crop:{SHIFT}", f"--save={weights}"], folder / "report.json")
        report = gc_tools.run(args.build, plan, [data, "--evaluate-only", f"--load={weights}"], folder / "report.json")
    return report["test_accuracy"]


def read_results(args):
    """{(side, seed): accuracy} of runs with these settings."""
    try:
        with open(args.csv, newline="") as file:
            return {(row["side"], int(row["seed"])): float(row["accuracy"]) for row in csv.DictReader(file)
                    if (int(row["limit"]), int(row["epochs"])) == (args.limit, args.epochs)}
    except FileNotFoundError:
        return {}


def append_result(args, side, seed, accuracy, seconds):
    row = dict(side=side, seed=seed, limit=args.limit, epochs=args.epochs, accuracy=f"{accuracy:.4f}", seconds=f"{seconds:.0f}")
    is_new = not os.path.exists(args.csv)
    with open(args.csv, "a", newline="") as file:
        writer = csv.DictWriter(file, row)
        if is_new:
            writer.writeheader()
        writer.writerow(row)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    gc_tools.add_build_option(parser)
    parser.add_argument("--data", type=Path, help="folder of IDX files (default: Debian's package of Fashion-MNIST)")
    parser.add_argument("--side", choices=["both", "torch", "gc"], default="both")
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--limit", type=int, default=60000, help="train on the first N samples (default: %(default)s)")
    parser.add_argument("--csv", default="recipe.csv", help="results, which a later call goes on with (default: %(default)s)")
    parser.add_argument("--require", action="store_true")
    args = parser.parse_args()
    results = read_results(args)
    for seed in map(int, args.seeds.split(",")):
        for side, learn in (("torch", learn_torch), ("gc", learn_gc)):
            if args.side in ("both", side) and (side, seed) not in results:
                start = time.perf_counter()
                results[side, seed] = learn(args, seed)
                append_result(args, side, seed, results[side, seed], time.perf_counter() - start)
            if (side, seed) in results:
                print(f"{side:5} seed {seed}: test accuracy {results[side, seed]:.2%}", flush=True)
    of = {side: [value for (own, _), value in results.items() if own == side] for side in ("torch", "gc")}
    for side, values in of.items():
        if values:
            print(f"{side:5} mean {statistics.mean(values):.2%}, {min(values):.2%} to {max(values):.2%}, {len(values)} seeds")
    if min(map(len, of.values())) > 1:
        apart = abs(statistics.mean(of["gc"]) - statistics.mean(of["torch"]))
        spread = max(max(values) - min(values) for values in of.values())
        print(f"the means are {100 * apart:.2f} points apart; one side's seeds spread over up to {100 * spread:.2f}")
        if args.require and apart > spread:
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
