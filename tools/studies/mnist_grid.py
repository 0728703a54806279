"""Accumulation x rematerialization x image size x optimizer on a chain of small convolutions (82 settings x 2 x 3)."""

from .setting import Budget, Setting

NAME, TITLE = "mnist-grid", "MNIST: accumulation, rematerialization, image size and optimizer"
OUTLINED = True  # predictions come from gc-compile's table of budgets: 492 plans would take too long
TRAINING_IMAGES = 60000  # of MNIST and of Fashion-MNIST
MICRO_BATCHES = {112: (128, 64, 32, 16, 8, 4), 224: (128, 64, 32, 16, 8, 4), 448: (128, 64, 32, 16, 8, 4),
                 896: (32, 16, 8, 4), 1792: (16, 8, 4), 3584: (8, 4)}
OPTIMIZERS = ("sgd", "adam")
POLICIES = ("none", "sqrt", "budget")
POLICY_TITLES = {"none": "without", "sqrt": "sqrt", "budget": "smallest budget"}

# (image, micro-batch) -> MB of GPU memory in use without and with checkpointing, on an RTX 3070 Ti.
PUBLISHED = {(3584, 8): (7019, 7027), (3584, 4): (4578, 4210), (1792, 16): (7449, 7284), (896, 32): (4618, 4582),
             (448, 128): (5814, 5741), (224, 128): (3170, 3006), (112, 128): (2110, 2077)}
PUBLISHED_DEVICE = "RTX 3070 Ti"
DEFAULT_CUDA_TARGET = "rtx3070"  # the nearest card that gc-compile knows


def grid():
    """The 82 settings: (image, micro-batch, accumulation). Accumulation doubles until a whole batch is the largest
    micro-batch of that size."""
    for image, micro_batches in MICRO_BATCHES.items():
        for micro in micro_batches:
            times = 1
            while micro * times <= max(micro_batches):
                yield image, micro, times
                times *= 2


def epoch_samples(setting):
    return TRAINING_IMAGES


def priority_of(image, micro, times, optimizer):
    if times == 1 and micro == max(MICRO_BATCHES[image]):
        return 0 if optimizer == "adam" else 1
    return 2


def settings():
    for optimizer in OPTIMIZERS:
        for image, micro, times in grid():
            bundle = f"{image}/{micro}x{times}/{optimizer}"
            for policy in POLICIES:
                yield Setting(
                    name=f"{bundle}/{policy}", network="mnist", policy=policy, batch=micro * times,
                    model=("mnist", f"--image={image}", f"--batch={micro * times}"), optimizer=optimizer,
                    budget=Budget() if policy == "budget" else None, image=image, micro_batch=micro,
                    accumulate=str(times), group=str(image), bundle=bundle,
                    priority=priority_of(image, micro, times, optimizer))
