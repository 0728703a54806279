"""Exports a PyTorch model for gc-import, and computes one training step to check the import by.

In a program of your own:

    import torch
    program = torch.export.export(model.train(), (images,), strict=False)
    torch.export.save(program, "model.pt2")

The same for a model that can be imported by name, with a check beside it:

    python export.py torchvision.models:resnet18 --shape=8,3,64,64 -o resnet18.pt2 --check=check.safetensors
    gc-import resnet18.pt2 -o resnet18.mlir --weights=resnet18.safetensors
    gc-run resnet18.mlir --load=resnet18.safetensors --reference=check.safetensors

The check is PyTorch's step (plain SGD, nothing dropped) in float64 on the weights of the archive, and how far
PyTorch's own float32 is from it: what gc may be off by.
"""

import argparse
import contextlib
import copy
import importlib
import json
import sys

import torch
from safetensors.torch import save_file
from torch.overrides import TorchFunctionMode

LEARNING_RATE = 0.01
# Gradients below this share of the network's typical one are zero but for rounding.
ZERO = 1e-9
DROPOUTS = {torch.nn.functional.dropout, torch.nn.functional.dropout1d, torch.nn.functional.dropout2d,
            torch.nn.functional.dropout3d, torch.nn.functional.alpha_dropout,
            torch.nn.functional.feature_alpha_dropout, torch.dropout, torch.dropout_, torch.feature_dropout}


class NothingDropped(TorchFunctionMode):
    """Dropout keeps everything, and a drop path takes every path: gc draws other bits than PyTorch."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if function in DROPOUTS:
            return args[0] if args else kwargs["input"]
        if function is torch.Tensor.bernoulli_:
            return args[0].fill_(args[1] if len(args) > 1 else kwargs.get("p", 0.5))
        if function is torch.nn.functional.scaled_dot_product_attention:
            args = args[:4] + (0.0,) + args[5:] if len(args) > 4 else args
            kwargs = {**kwargs, "dropout_p": 0.0} if len(args) <= 4 else kwargs
        return function(*args, **kwargs)


def loss_of(output, labels):
    """Cross entropy on the model's only output, as gc-import adds it; a scalar is a loss already."""
    if output.dim() == 0:
        return output
    if output.dim() > 2 and labels.shape == output.shape[:-1]:  # of tokens: classes are last
        return torch.nn.functional.cross_entropy(output.flatten(0, -2), labels.flatten())
    return torch.nn.functional.cross_entropy(output, labels)


def rms(tensor):
    return (tensor.norm() / tensor.numel() ** 0.5).item()


def median(sizes):
    return sorted(sizes)[len(sizes) // 2] if sizes else 0.0


def scale_of(tensor, typical):
    """What an error is relative to: the tensor's size, or the typical one's where it is zero but for rounding."""
    size = typical if rms(tensor) < ZERO * typical else rms(tensor)
    return max(size * tensor.numel() ** 0.5, 1e-30)


def step(model, inputs, labels, dtype, rate=LEARNING_RATE):
    """One step of a copy of the model in this precision, everything in float64."""
    model = copy.deepcopy(model).to(dtype).train()
    inputs = inputs.to(dtype) if inputs.is_floating_point() else inputs
    arguments = (inputs, labels) if takes_labels(model) else (inputs,)
    with NothingDropped():
        output = model(*arguments)
        loss = loss_of(output, labels)
        loss.backward()
    gradients = {n: p.grad.double().clone() for n, p in model.named_parameters(remove_duplicate=False)
                 if p.grad is not None}
    torch.optim.SGD([p for p in model.parameters() if p.grad is not None], lr=rate).step()
    updated = {n: t.detach().double().clone() for n, t in model.state_dict().items() if t.is_floating_point()}
    return loss.item(), output.detach().double(), gradients, updated


def takes_labels(model):
    return getattr(model, "returns_loss", False)


def write_check(model, inputs, labels, path, rate=LEARNING_RATE):
    """One step of `model` in float64 as a file for gc-run --reference; returns PyTorch's own float32 errors."""
    loss, output, gradients, updated = step(model, inputs, labels, torch.float64, rate)
    own_loss, _, own_gradients, own_updated = step(model, inputs, labels, torch.float32, rate)
    tensors = {"input.image": inputs.contiguous(), "input.label": labels.contiguous(),
               "loss": torch.tensor(loss, dtype=torch.float64), "output.0": output.contiguous()}
    statistics = {n: t for n, t in updated.items() if n.endswith(("running_mean", "running_var"))}
    typical = median([rms(g) for g in gradients.values()])
    typical_statistic = median([rms(s) for s in statistics.values()])
    errors = {"loss": abs(own_loss - loss) / max(abs(loss), 1e-30)}
    for name, gradient in gradients.items():
        scale = scale_of(gradient, typical)
        tensors[f"gradient.{name}"] = gradient
        errors[f"gradient.{name}"] = ((own_gradients[name] - gradient).norm() / scale).item()
        errors[f"updated.{name}"] = ((own_updated[name] - updated[name]).norm() / (rate * scale)).item()
    for name, value in updated.items():
        tensors[f"updated.{name}"] = value
    for name, value in statistics.items():
        errors[f"updated.{name}"] = ((own_updated[name] - value).norm() / scale_of(value, typical_statistic)).item()
    for name, error in errors.items():
        tensors[f"error.{name}"] = torch.tensor(error, dtype=torch.float64)
    save_file({n: t.clone().contiguous() for n, t in tensors.items()}, path,
              metadata={"optimizer": "sgd", "lr": repr(rate), "format": "pt"})
    return errors


def export(model, inputs, path, labels=None):
    """Saves the model for gc-import; what it traces is one batch."""
    arguments = (inputs, labels) if takes_labels(model) else (inputs,)
    program = torch.export.export(model.train(), arguments, strict=False)
    torch.export.save(program, path)
    return program


def example(model, shape, tokens=0, classes=None, seed=0):
    """A batch of random numbers (or tokens), and labels below the number of classes."""
    generator = torch.Generator().manual_seed(seed)
    inputs = (torch.randint(tokens, shape, generator=generator) if tokens
              else torch.randn(shape, generator=generator))
    rows = (shape[0],)
    if classes is None:
        with torch.no_grad(), NothingDropped():
            output = copy.deepcopy(model).eval()(inputs)
        last = tokens or output.dim() == 2  # else the classes are behind the batch
        classes = output.shape[-1 if last else 1]
        rows = output.shape[:-1] if last else output.shape[:1] + output.shape[2:]
    labels = torch.randint(classes, rows, generator=generator)
    if labels.dim() > 1:  # every seventh is left out
        labels.view(-1)[::7] = -100
    return inputs, labels


def build(name, arguments):
    """`package.module:callable` with keyword arguments."""
    module, _, function = name.partition(":")
    return getattr(importlib.import_module(module), function)(**arguments)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", metavar="MODULE:CALLABLE", help="makes the model: torchvision.models:resnet18")
    parser.add_argument("--arguments", default="{}", metavar="JSON", help="of the callable, by name")
    parser.add_argument("--shape", required=True, metavar="N,C,H,W", help="of the batch")
    parser.add_argument("--tokens", type=int, default=0, metavar="N", help="the batch holds tokens below this number")
    parser.add_argument("--seed", type=int, default=0, help="of initial weights and the batch")
    parser.add_argument("-o", "--output", required=True, metavar="FILE.pt2")
    parser.add_argument("--check", metavar="FILE.safetensors", help="also one step, for gc-run --reference")
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    model = build(args.model, json.loads(args.arguments))
    inputs, labels = example(model, [int(n) for n in args.shape.split(",")], args.tokens, seed=args.seed)
    with contextlib.suppress(AttributeError):
        model.config.use_cache = False  # of transformers: a cache is no output to train on
    export(model, inputs, args.output, labels)
    if args.check:
        write_check(model, inputs, labels, args.check)
    return 0


if __name__ == "__main__":
    sys.exit(main())
