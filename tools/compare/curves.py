"""Trains one small network by PyTorch and by gc: same weights, same batches, every optimizer with every schedule
and way of clipping, and compares the loss curves.

    python curves.py                               # all, 200 steps each; exit 1 where one is off
    python curves.py --optimizer=adam --schedule=cosine --markdown

The truth is PyTorch in float64; the yardstick is how far PyTorch's own float32 is from it. Deviations are the largest
of |loss − loss64| over the steps. A unit that is nearer to ReLU's kink than float32 resolves is off in one and on in
the other, whoever computes: the smallest |input| of any ReLU in the run is shown, and what is near may deviate more; so
may Lion, whose steps are signs. A plan is compiled for each optimizer and clipping; schedules are given when it runs.
"""

import argparse
import math
import subprocess
import sys
import tempfile
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch.optim import lr_scheduler as schedulers

import gc_tools
import hashed
import optimizers

SAMPLES, BATCH, CLASSES = 1600, 32, 10
# gc passes with at most this many times PyTorch's own deviation, or one that is no more than rounding of a loss.
FACTOR, ROUNDING = 10.0, 2e-6
# A sum of 784 products of this network is known to about this in float32; a unit that flips moves the loss by less.
KINK, FLIPPED = 1e-7, 1e-4
# The sign of an average that is 0 but for rounding: of ten million in a run some are, and each moves a weight by 2 lr.
SIGNS = ["lion"]
ROW = "{:10} {:16} {:9} {:>9} {:>8} {:>12} {:>9} {:>6}"


class Mlp(torch.nn.Module):
    """models/mlp.mlir."""

    def __init__(self):
        super().__init__()
        self.fc1 = torch.nn.Linear(784, 64)
        self.fc2 = torch.nn.Linear(64, CLASSES)
        self.nearest = math.inf  # to the kink of ReLU

    def forward(self, image):
        hidden = self.fc1(image.flatten(1))
        self.nearest = min(self.nearest, hidden.detach().abs().min().item())
        return self.fc2(torch.relu(hidden))


# Flags of gc and what PyTorch makes of them; `lr` is what schedules are about.
OPTIMIZERS = {
    "sgd": (0.1, ["--weight-decay=0.001"],
            lambda p, lr: torch.optim.SGD(p, lr, weight_decay=0.001)),
    "momentum": (0.05, ["--momentum=0.9", "--nesterov"],
                 lambda p, lr: torch.optim.SGD(p, lr, momentum=0.9, nesterov=True)),
    "adam": (0.002, ["--optimizer=adam"], lambda p, lr: torch.optim.Adam(p, lr)),
    "adamw": (0.002, ["--optimizer=adamw", "--weight-decay=0.05"],
              lambda p, lr: torch.optim.AdamW(p, lr, weight_decay=0.05)),
    "rmsprop": (0.002, ["--optimizer=rmsprop", "--momentum=0.5", "--centered", "--epsilon=0.01"],
                lambda p, lr: torch.optim.RMSprop(p, lr, momentum=0.5, centered=True, eps=0.01)),
    "lion": (0.0005, ["--optimizer=lion", "--weight-decay=0.1"], lambda p, lr: optimizers.Lion(p, lr, weight_decay=0.1)),
    "lamb": (0.01, ["--optimizer=lamb"], lambda p, lr: optimizers.Lamb(p, lr)),
    "adafactor": (0.02, ["--optimizer=adafactor", "--weight-decay=0.01"],
                  lambda p, lr: torch.optim.Adafactor(p, lr, eps=optimizers.ADAFACTOR_EPS, weight_decay=0.01)),
}


def warmed(optimizer, steps, make, warmup=20):
    first = schedulers.LinearLR(optimizer, 1 / (warmup + 1), 1, warmup)
    return schedulers.SequentialLR(optimizer, [first, make(optimizer, steps - warmup)], [warmup])


def cosine(optimizer, steps):
    return schedulers.CosineAnnealingLR(optimizer, steps)


SCHEDULES = {
    "constant": ([], lambda o, s: schedulers.ConstantLR(o, 1)),
    "step": (["--schedule=step:60:0.5"], lambda o, s: schedulers.StepLR(o, 60, 0.5)),
    "multi-step": (["--schedule=multi-step:50,120:0.3"], lambda o, s: schedulers.MultiStepLR(o, [50, 120], 0.3)),
    "linear": (["--schedule=linear"], lambda o, s: schedulers.LinearLR(o, 1, 0, s)),
    "warm-up, cosine": (["--schedule=cosine", "--warmup=20"], lambda o, s: warmed(o, s, cosine)),
    "restarts": (["--schedule=cosine:25:2"], lambda o, s: schedulers.CosineAnnealingWarmRestarts(o, 25, 2)),
    "one-cycle": (["--schedule=one-cycle"],
                  lambda o, s: schedulers.OneCycleLR(o, o.param_groups[0]["lr"], s, cycle_momentum=False)),
}
CLIPPING = {
    "none": ([], lambda p: None),
    "norm": (["--clip-norm=0.5"], lambda p: torch.nn.utils.clip_grad_norm_(p, 0.5)),
    "value": (["--clip-value=0.01"], lambda p: torch.nn.utils.clip_grad_value_(p, 0.01)),
}


def tensor(name, shape, scale):
    return torch.from_numpy(hashed.values(1, name, math.prod(shape), scale=scale)).reshape(shape)


def write_inputs(folder):
    """Classes with a picture each, and noise: something to learn in 200 steps, but not at once."""
    label = (tensor("label", [SAMPLES], 1.0).double().add(1).mul(CLASSES / 2)).long()
    pictures = tensor("pictures", [CLASSES, 1, 28, 28], 0.3)
    image = pictures[label] + tensor("noise", [SAMPLES, 1, 28, 28], 1.0)
    weights = {n: tensor(n, list(p.shape), 1 / math.sqrt(p.shape[-1] if p.dim() > 1 else 64))
               for n, p in Mlp().named_parameters()}
    save_file({"image": image.contiguous(), "label": label}, folder / "data.safetensors")
    save_file(weights, folder / "weights.safetensors")
    return image, label, weights


def learn_torch(inputs, optimizer, schedule, clip, steps, dtype):
    image, label, weights = inputs
    model = Mlp().to(dtype)
    model.load_state_dict(weights)
    lr, _, make = OPTIMIZERS[optimizer]
    parameters = list(model.parameters())
    update = make(parameters, lr)
    rates = SCHEDULES[schedule][1](update, steps)
    losses, batches = [], SAMPLES // BATCH
    for step in range(steps):
        part = slice(step % batches * BATCH, (step % batches + 1) * BATCH)
        update.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(image[part].to(dtype)), label[part])
        loss.backward()
        CLIPPING[clip][1](parameters)
        update.step()
        rates.step()
        losses.append(loss.item())
    return losses, model.nearest


def deviation(losses, truth):
    return max(abs(a - b) for a, b in zip(losses, truth, strict=True))


def compare_all(args, folder):
    """Yields optimizer, schedule, clipping, PyTorch's deviation, gc's, the last loss and the nearest kink."""
    inputs = write_inputs(folder)
    for optimizer in args.optimizer or OPTIMIZERS:
        for clip in args.clipping or CLIPPING:
            lr, flags, _ = OPTIMIZERS[optimizer]
            plan = folder / "step.plan"
            gc_tools.call([gc_tools.tool(args.build, "gc-compile"), str(gc_tools.ROOT / "models/mlp.mlir"), "-o",
                           str(plan), f"--lr={lr}", *flags, *CLIPPING[clip][0]], stdout=subprocess.DEVNULL)
            for schedule in args.schedule or SCHEDULES:
                truth, nearest = learn_torch(inputs, optimizer, schedule, clip, args.steps, torch.float64)
                single, _ = learn_torch(inputs, optimizer, schedule, clip, args.steps, torch.float32)
                ours = gc_tools.run(args.build, plan, [
                    f"--data={folder / 'data.safetensors'}", f"--load={folder / 'weights.safetensors'}",
                    f"--steps={args.steps}", *SCHEDULES[schedule][0]], folder / "report.json")["loss"]
                yield optimizer, schedule, clip, deviation(single, truth), deviation(ours, truth), truth[-1], nearest


def compare(args, folder):
    """Prints a line for each run; returns how many are off."""
    print(ROW.format("optimizer", "schedule", "clipping", "last loss", "nearest", "PyTorch f32", "gc", "ratio"))
    failed = 0
    for optimizer, schedule, clip, own, off, last, nearest in compare_all(args, folder):
        flips = nearest <= KINK or optimizer in SIGNS
        missed = not off <= max(FACTOR * own, FLIPPED if flips else ROUNDING)
        failed += missed
        print(ROW.format(optimizer, schedule, clip, f"{last:.4f}", f"{nearest:.0e}", f"{own:.1e}", f"{off:.1e}",
                         f"{off / own:.1f}") + "  FAILED" * missed, flush=True)
    return failed


def print_markdown(args, folder):
    """A table for docs/training.md: gc's deviation and PyTorch's, in units of 1e-7."""
    schedules = args.schedule or list(SCHEDULES)
    print("| optimizer | clipping | " + " | ".join(schedules) + " |\n" + "|---" * (len(schedules) + 2) + "|")
    cells = []
    for optimizer, _, clip, own, off, _, _ in compare_all(args, folder):
        cells.append(f"{off * 1e7:.1f} / {own * 1e7:.1f}")
        if len(cells) == len(schedules):
            print(f"| {optimizer} | {clip} | " + " | ".join(cells) + " |", flush=True)
            cells = []
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    gc_tools.add_build_option(parser)
    parser.add_argument("--optimizer", action="append", choices=OPTIMIZERS)
    parser.add_argument("--schedule", action="append", choices=SCHEDULES)
    parser.add_argument("--clipping", action="append", choices=CLIPPING)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--markdown", action="store_true", help="print a table for docs/training.md")
    args = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        return 1 if (print_markdown if args.markdown else compare)(args, Path(folder)) else 0


if __name__ == "__main__":
    sys.exit(main())
