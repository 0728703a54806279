"""One SGD step in PyTorch at a chosen precision, and how far one step's results are from another's."""

from dataclasses import dataclass

import torch

import models

# Gradients below this share of the network's typical one are zero but for rounding (the bias of a
# convolution before a batch norm): there is nothing to be relative to.
ZERO = 1e-9


@dataclass
class Step:
    loss: float
    gradients: dict
    weights: dict  # after the step
    statistics: dict  # running means and variances after the step


def loaded(case, weights, dtype):
    """The case's model with these weights, in training mode."""
    with torch.device("meta"):  # no time for initial values that are overwritten
        model = models.build(case.network, case.options)
    model = model.to_empty(device="cpu").to(dtype)
    missing, unexpected = model.load_state_dict(weights, strict=False)
    assert not unexpected and all(n.endswith("num_batches_tracked") for n in missing), (missing, unexpected)
    return model


def train_once(case, weights, batch, dtype, channels_last=False, autocast=None):
    """Loads the weights, trains one step of plain SGD and returns everything in float64. With `autocast`, a
    type of half precision, the forward pass and with it the backward pass run under torch.autocast."""
    model = loaded(case, weights, dtype)
    image = batch["image"].to(dtype)
    if channels_last and image.dim() == 4:
        model, image = model.to(memory_format=torch.channels_last), image.to(memory_format=torch.channels_last)
    with torch.autocast("cpu", dtype=autocast, enabled=autocast is not None):
        loss = torch.nn.functional.cross_entropy(model(image), batch["label"])
    loss.backward()
    gradients = {n: p.grad.double().clone() for n, p in model.named_parameters()}
    torch.optim.SGD(model.parameters(), lr=case.learning_rate).step()
    after = {n: t.detach().double() for n, t in models.tensors(model).items()}
    return Step(loss.item(), gradients,
                {n: t for n, t in after.items() if n in gradients},
                {n: t for n, t in after.items() if n not in gradients})


def rms(t):
    return (t.norm() / t.numel() ** 0.5).item()


def zero_gradients(truth):
    """Names of the gradients that are zero but for rounding, and the network's typical gradient size."""
    sizes = {n: rms(g) for n, g in truth.gradients.items()}
    typical = torch.tensor(sorted(sizes.values())).median().item()
    return {n for n, s in sizes.items() if s < ZERO * typical}, typical


def relative_errors(got, truth):
    """‖g − g64‖ / ‖g64‖ by tensor, and the same for the update of each weight and for the statistics.
    Where the gradient is zero, the network's typical gradient stands in for ‖g64‖."""
    zeros, typical = zero_gradients(truth.step)
    def against(name, difference, size, scale):
        return (difference.norm() / (scale * difference.numel() ** 0.5 if name in zeros else size)).item()
    rate = truth.learning_rate
    return {
        "gradients": {n: against(n, got.gradients[n] - g, g.norm(), typical)
                      for n, g in truth.step.gradients.items()},
        "updates": {n: against(n, got.weights[n] - w, rate * truth.step.gradients[n].norm(), rate * typical)
                    for n, w in truth.step.weights.items()},
        "statistics": {n: ((got.statistics[n] - s).norm() / s.norm()).item()
                       for n, s in truth.step.statistics.items()},
    }


@dataclass
class Truth:
    step: Step
    learning_rate: float


def truth_of(case, weights, batch):
    return Truth(train_once(case, weights, batch, torch.float64), case.learning_rate)
