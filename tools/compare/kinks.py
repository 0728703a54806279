"""How far a network's ReLU and max-pool units are from switching, counted in float32 rounding errors.

A unit on the other side of its kink moves gradients by up to 1e-2, whoever computes them. A comparison is
about our code only where no unit is that near.
"""

import torch
from torch.utils._python_dispatch import TorchDispatchMode

import step

RELU = (torch.ops.aten.relu, torch.ops.aten.relu_, torch.ops.aten.clamp_min, torch.ops.aten.clamp_min_)
POOL = (torch.ops.aten.max_pool2d_with_indices,)


class Recorder(TorchDispatchMode):
    """Keeps the input of every ReLU, and of every max-pool with its window."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        if function.overloadpacket in RELU:
            self.seen.append((args[0].detach().double().clone(), None))
        elif function.overloadpacket in POOL and args[1] != [1, 1]:
            stride = args[2] if len(args) > 2 and args[2] else args[1]  # dispatch leaves defaults out
            window = {"kernel_size": args[1], "stride": stride, "padding": args[3] if len(args) > 3 else 0}
            self.seen.append((args[0].detach().double().clone(), window))
        return function(*args, **(kwargs or {}))


def record(case, weights, batch, dtype):
    model = step.loaded(case, weights, dtype)
    image = batch["image"].to(dtype)
    if dtype == torch.float32 and image.dim() == 4:
        # channels-last rounds more than the default layout: the cautious choice
        model, image = model.to(memory_format=torch.channels_last), image.to(memory_format=torch.channels_last)
    with torch.no_grad(), Recorder() as recorder:
        model(image)
    return recorder.seen


def distance(x, window):
    """Distance of each unit from its kink. Two zeros in a pool's window are no kink: no gradient passes a ReLU
    there."""
    if window is None:
        return x.abs()
    n, c, h, w = x.shape
    patches = torch.nn.functional.unfold(x.reshape(n * c, 1, h, w), **window)  # pads with 0, below any ReLU
    first, second = patches.topk(2, dim=1).values.unbind(1)
    return torch.where(first > 0, first - second, torch.inf)


def safety(case, weights, batch):
    """The smallest distance of any unit from its kink, divided by the rms rounding error of its layer."""
    smallest = float("inf")
    exact, rounded = record(case, weights, batch, torch.float64), record(case, weights, batch, torch.float32)
    for (x, window), (y, _) in zip(exact, rounded, strict=True):
        noise = (x - y).square().mean().sqrt()
        smallest = min(smallest, (distance(x, window).min() / noise).item())
    return smallest
