"""The number of checkpoints against peak and time: eleven convolutions, and VGG-16."""

from .setting import Budget, Setting

NAME, TITLE = "cnn-checkpoints", "CNN: number of checkpoints, peak and time"
OUTLINED = False
CHECKPOINTS = (0, 2, 4, 8, 16)
MIB = 1 << 20
DEFAULT_CUDA_TARGET = "rtx3070"

# network -> checkpoints (None: no checkpointing) -> (peak in bytes, seconds of a step), on the CPU.
PUBLISHED = {
    "cnn11": {None: (3266.6 * MIB, 38.1), 0: (465.8 * MIB, 138.6), 2: (578.8 * MIB, 96.6),
              4: (758.8 * MIB, 75.8), 8: (1279.6 * MIB, 69.1), 16: (2080.1 * MIB, 66.4)},
    "vgg16": {None: (4.7e9, 41), 0: (1.5e9, 264), 2: (1.6e9, 165), 4: (2.0e9, 145), 8: (2.4e9, 137),
              16: (4.2e9, 130)},
}
MODELS = {"cnn11": (("cnn11",), 16, 256), "vgg16": (("vgg", "--batch=64"), 64, 224)}
# Each is a published peak, the largest first; then the smallest that is feasible.
BUDGETS = {network: sorted((int(bytes) for n, (bytes, _) in rows.items() if n is not None), reverse=True)
           for network, rows in PUBLISHED.items()}


def epoch_samples(setting):
    return 0


def budget_name(network, budget_bytes):
    return f"{budget_bytes / MIB:.1f}MiB" if network == "cnn11" else f"{budget_bytes / 1e9:.1f}GB"


def priority_of(network, policy):
    """The published extremes and the smallest published peak come first, VGG-16 last: its steps take minutes."""
    first = policy in ("none", "checkpoints:0") or policy == f"budget:{min(BUDGETS[network])}"
    return (0 if first else 1) + (2 if network == "vgg16" else 0)


def settings():
    for network, (model, batch, image) in MODELS.items():
        def setting(label, policy, accumulate="1", budget=None, order=""):
            return Setting(name=f"{network}/{label}", network=network, model=model, policy=policy, batch=batch,
                           image=image, accumulate=accumulate, budget=budget, group=network,
                           priority=priority_of(network, order or policy))

        yield setting("none", "none")
        for count in CHECKPOINTS:
            yield setting(f"checkpoints-{count}", f"checkpoints:{count}")
        for accumulate, mark in (("1", ""), ("auto", "-auto")):
            for size in BUDGETS[network]:
                yield setting(f"budget-{budget_name(network, size)}{mark}", "budget", accumulate, Budget(bytes=size),
                              order=f"budget:{size}")
            yield setting(f"budget-smallest{mark}", "budget", accumulate, Budget())
