"""Every optimizer of gc against PyTorch: the same small network, weights and batch, 50 steps.

    python optimizers.py                 # all, as a table
    python optimizers.py lion rmsprop    # the rows whose names begin so
    python optimizers.py --require       # exit 1 where gc is further from float64 than --times PyTorch's float32

The truth is PyTorch's step in float64, the yardstick PyTorch's own float32 on the same weights. `loss` is the largest deviation of the loss curve from
the truth, relative to the loss; `weights` is ‖w − w64‖ / ‖w64 − w0‖ over all weights after the last step, so that an optimizer that does
nothing has 1. Where torch.optim has no such optimizer, the formula is written out below.
"""

import argparse
import sys
import tempfile
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

import gc_tools

# Smooth, so that two runs part by rounding alone; a filter, matrices and vectors.
MODEL = """
module @small attributes {gc.classes = 10 : i64} {
  gc.parameter @conv.weight : tensor<8x3x3x3xf32> = #gc.init<constant, [0.0]>
      {file_shape = array<i64: 8, 3, 3, 3>, file_split = array<i64: 8, 3, 3, 3>, file_permutation = array<i64: 0, 2, 3, 1>}
  gc.parameter @conv.bias : tensor<8xf32> = #gc.init<constant, [0.0]>
  gc.parameter @fc1.weight : tensor<24x8xf32> = #gc.init<constant, [0.0]>
  gc.parameter @fc1.bias : tensor<24xf32> = #gc.init<constant, [0.0]>
  gc.parameter @fc2.weight : tensor<10x24xf32> = #gc.init<constant, [0.0]>
  gc.parameter @fc2.bias : tensor<10xf32> = #gc.init<constant, [0.0]>
  func.func @model(%image: tensor<16x8x8x3xf32> {gc.input = "image"}, %label: tensor<16xi32> {gc.input = "label"})
      -> (tensor<f32> {gc.output = "loss"}, tensor<f32> {gc.output = "correct"}) {
    %w = gc.read @conv.weight : tensor<8x3x3x3xf32>
    %b = gc.read @conv.bias : tensor<8xf32>
    %w1 = gc.read @fc1.weight : tensor<24x8xf32>
    %b1 = gc.read @fc1.bias : tensor<24xf32>
    %w2 = gc.read @fc2.weight : tensor<10x24xf32>
    %b2 = gc.read @fc2.bias : tensor<10xf32>
    %conv = gc.conv2d %image, %w bias %b {strides = array<i64: 1, 1>, padding = array<i64: 1, 1>}
        : (tensor<16x8x8x3xf32>, tensor<8x3x3x3xf32>, tensor<8xf32>) -> tensor<16x8x8x8xf32>
    %smooth = gc.tanh %conv : (tensor<16x8x8x8xf32>) -> tensor<16x8x8x8xf32>
    %mean = gc.global_avg_pool %smooth : (tensor<16x8x8x8xf32>) -> tensor<16x8xf32>
    %product = gc.linear %mean, %w1 bias %b1 : (tensor<16x8xf32>, tensor<24x8xf32>, tensor<24xf32>) -> tensor<16x24xf32>
    %hidden = gc.tanh %product : (tensor<16x24xf32>) -> tensor<16x24xf32>
    %logits = gc.linear %hidden, %w2 bias %b2 : (tensor<16x24xf32>, tensor<10x24xf32>, tensor<10xf32>) -> tensor<16x10xf32>
    %loss, %logsumexp = gc.cross_entropy %logits, %label : (tensor<16x10xf32>, tensor<16xi32>) -> (tensor<f32>, tensor<16xf32>)
    %correct = gc.accuracy %logits, %label : (tensor<16x10xf32>, tensor<16xi32>) -> tensor<f32>
    return %loss, %correct : tensor<f32>, tensor<f32>
  }
}
"""


def forward(w, image):
    x = torch.tanh(torch.nn.functional.conv2d(image, w["conv.weight"], w["conv.bias"], padding=1)).mean((2, 3))
    x = torch.tanh(torch.nn.functional.linear(x, w["fc1.weight"], w["fc1.bias"]))
    return torch.nn.functional.linear(x, w["fc2.weight"], w["fc2.bias"])


class Lion(torch.optim.Optimizer):
    """Chen et al. 2023, algorithm 2."""

    def __init__(self, params, lr=1e-4, betas=(0.9, 0.99), weight_decay=0.0):
        super().__init__(params, dict(lr=lr, betas=betas, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for p in group["params"]:
                m = self.state[p].setdefault("exp_avg", torch.zeros_like(p))
                p.mul_(1 - group["lr"] * group["weight_decay"])
                p.sub_(group["lr"] * torch.sign(beta1 * m + (1 - beta1) * p.grad))
                m.mul_(beta2).add_(p.grad, alpha=1 - beta2)


class Lamb(torch.optim.Optimizer):
    """You et al. 2019, algorithm 2, with bias correction; the ratio is 1 where a norm is 0."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-6, weight_decay=0.01):
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for p in group["params"]:
                state = self.state[p]
                if not state:
                    state.update(t=0, m=torch.zeros_like(p), v=torch.zeros_like(p))
                state["t"] += 1
                state["m"].mul_(beta1).add_(p.grad, alpha=1 - beta1)
                state["v"].mul_(beta2).addcmul_(p.grad, p.grad, value=1 - beta2)
                m = state["m"] / (1 - beta1 ** state["t"])
                v = state["v"] / (1 - beta2 ** state["t"])
                update = m / (v.sqrt() + group["eps"]) + group["weight_decay"] * p
                norm, change = p.norm().item(), update.norm().item()
                ratio = norm / change if norm > 0 and change > 0 else 1.0
                p.sub_(group["lr"] * ratio * update)


# PyTorch's first default is the epsilon of the parameters' type: in float64 it would be another optimizer.
ADAFACTOR_EPS = (2.0 ** -23, 1e-3)

# name, flags of gc, the same in PyTorch
ROWS = [
    ("sgd", ["--optimizer=sgd", "--lr=0.1", "--momentum=0.9", "--weight-decay=0.001"],
     lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=0.001)),
    ("adam", ["--optimizer=adam", "--lr=0.01"], lambda p: torch.optim.Adam(p, lr=0.01)),
    ("adamw", ["--optimizer=adamw", "--lr=0.01", "--weight-decay=0.1"],
     lambda p: torch.optim.AdamW(p, lr=0.01, weight_decay=0.1)),
    ("rmsprop", ["--optimizer=rmsprop", "--lr=0.003"], lambda p: torch.optim.RMSprop(p, lr=0.003)),
    ("rmsprop, centered, momentum", ["--optimizer=rmsprop", "--lr=0.001", "--alpha=0.9", "--centered", "--momentum=0.9",
                                     "--epsilon=0.001", "--weight-decay=0.01"],
     lambda p: torch.optim.RMSprop(p, lr=0.001, alpha=0.9, centered=True, momentum=0.9, eps=0.001, weight_decay=0.01)),
    ("lion", ["--optimizer=lion", "--lr=0.003", "--weight-decay=0.1"], lambda p: Lion(p, lr=0.003, weight_decay=0.1)),
    ("adafactor", ["--optimizer=adafactor", "--lr=0.05"], lambda p: torch.optim.Adafactor(p, lr=0.05, eps=ADAFACTOR_EPS)),
    ("adafactor, its settings", ["--optimizer=adafactor", "--lr=0.02", "--beta2-decay=-0.5", "--epsilon=1e-6", "--epsilon2=0.01",
                                 "--clip-update=1.5", "--weight-decay=0.1"],
     lambda p: torch.optim.Adafactor(p, lr=0.02, beta2_decay=-0.5, eps=(1e-6, 0.01), d=1.5, weight_decay=0.1)),
    ("lamb", ["--optimizer=lamb", "--lr=0.02", "--weight-decay=0.01"], lambda p: Lamb(p, lr=0.02, weight_decay=0.01)),
]


def train_torch(make, weights, batch, steps, dtype):
    w = {name: value.to(dtype).clone().requires_grad_() for name, value in weights.items()}
    optimizer, losses = make(list(w.values())), []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(forward(w, batch["image"].to(dtype)), batch["label"])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, {name: value.detach().double() for name, value in w.items()}


def train_gc(build, folder, flags, steps):
    saved = folder / "saved.safetensors"
    report = gc_tools.run(build, folder / "model.mlir",
                          [f"--data={folder / 'batch.safetensors'}", f"--load={folder / 'weights.safetensors'}", f"--save={saved}",
                           f"--steps={steps}", "--threads=1", *flags], folder / "report.json")
    return report["loss"], {name: value.double() for name, value in load_file(saved).items()}


def errors(run, truth, start):
    curve = max(abs(a - b) / abs(b) for a, b in zip(run[0], truth[0]))
    apart = sum((run[1][name] - w).square().sum() for name, w in truth[1].items()).sqrt()
    moved = sum((w - start[name].double()).square().sum() for name, w in truth[1].items()).sqrt()
    return curve, (apart / moved).item()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("row", nargs="*", help="beginnings of names; default: all")
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--require", action="store_true")
    parser.add_argument("--times", type=float, default=5, help="how many times PyTorch's float32 error is allowed (default: %(default)s)")
    gc_tools.add_build_option(parser)
    args = parser.parse_args()
    rows = [row for row in ROWS if not args.row or any(row[0].startswith(name) for name in args.row)]
    generator = torch.Generator().manual_seed(1)
    shapes = {"conv.weight": (8, 3, 3, 3), "conv.bias": (8,), "fc1.weight": (24, 8), "fc1.bias": (24,), "fc2.weight": (10, 24),
              "fc2.bias": (10,)}
    start = {name: 0.4 * torch.randn(shape, generator=generator) for name, shape in shapes.items()}
    batch = {"image": torch.randn(16, 3, 8, 8, generator=generator), "label": torch.randint(10, (16,), generator=generator)}
    failed = []
    print(f"{args.steps} steps, PyTorch {torch.__version__}")
    print("| optimizer | loss, first to last | gc: loss | weights | PyTorch f32: loss | weights |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "model.mlir").write_text(MODEL)
        save_file(start, folder / "weights.safetensors")
        save_file(batch, folder / "batch.safetensors")
        for name, flags, make in rows:
            truth = train_torch(make, start, batch, args.steps, torch.float64)
            single = errors(train_torch(make, start, batch, args.steps, torch.float32), truth, start)
            own = errors(train_gc(args.build, folder, flags, args.steps), truth, start)
            print(f"| {name} | {truth[0][0]:.3f} to {truth[0][-1]:.3f} | {own[0]:.1e} | {own[1]:.1e} | {single[0]:.1e} | {single[1]:.1e} |",
                  flush=True)
            if any(a > args.times * max(b, 1e-7) for a, b in zip(own, single)):
                failed.append(name)
    if args.require and failed:
        sys.exit(f"further from float64 than {args.times} times PyTorch's float32: {', '.join(failed)}")


if __name__ == "__main__":
    main()
