"""Activations chosen under a memory budget, by batch size: ResNet-152 and a Transformer encoder."""

from .setting import Budget, Setting

NAME, TITLE = "resnet-budgets", "ResNet-152 and an encoder under a memory budget"
OUTLINED = False
BUDGET = 1_500_000_000
DEFAULT_CUDA_TARGET = "rtx3070"

# batch -> peak in GB without and with, seconds without and with (simulated), values recomputed of 620.
PUBLISHED = {4: (1.47, 1.47, 1.32, 1.32, 0), 8: (2.13, 1.50, 1.39, 2.07, 61), 16: (3.44, 1.50, 1.63, 3.70, 119),
             32: (6.08, 1.49, 1.04, 5.92, 200), 64: (11.35, 1.49, 1.43, 11.91, 257)}
PUBLISHED_VALUES = 620
# What the table's own rows come to, as it prints them: reduction and overhead in per cent.
PUBLISHED_PERCENT = {4: (0.0, 0.0), 8: (29.6, 48.9), 16: (56.4, 127.0), 32: (75.5, 469.2), 64: (86.9, 732.9)}
REDUCTIONS = {8: 0.296, 16: 0.564, 32: 0.755}  # of our own peak, too

COLUMNS = ["Batch Size", "Initial Peak Memory (GB)", "Final Peak Memory (GB)", "Memory Reduction (GB)",
           "Memory Reduction (%)", "Initial Execution Time (s)", "Final Execution Time (s)",
           "Execution Time Overhead (s)", "Execution Time Overhead (%)", "Recomputation Time (s)",
           "Retained Activations", "Retained Activations (%)", "Recomputed Activations",
           "Recomputed Activations (%)", "Retained Memory (GB)", "Saved Memory (GB)"]
ENCODER_BATCHES = (16, 64, 128)  # the published sizes name none
MEASURED_FIRST = (8, 16, 32, 4, 64)  # batches, where time is short: those whose budget bites
DETAILED = ("timeline", "activations", "operations")


def epoch_samples(setting):
    return 0


def settings():
    def setting(network, model, batch, label, budget=None, details=(), priority=0):
        return Setting(name=f"{network}/b{batch}/{label}", network=network, model=(*model, f"--batch={batch}"),
                       policy="budget" if budget else "none", batch=batch, optimizer="adam", budget=budget,
                       group=f"{network}/b{batch}", bundle=f"{network}/b{batch}/{priority}", details=details,
                       priority=priority)

    resnet = ("resnet", "--depth=152", "--classes=1000")
    for batch in PUBLISHED:
        place = MEASURED_FIRST.index(batch)
        yield setting("resnet152", resnet, batch, "none", priority=place)
        yield setting("resnet152", resnet, batch, "1.5GB", Budget(bytes=BUDGET), DETAILED, place)
        if batch in REDUCTIONS:
            percent = f"{100 * REDUCTIONS[batch]:.1f}"
            yield setting("resnet152", resnet, batch, f"minus-{percent}%",
                          Budget(fraction=1 - REDUCTIONS[batch], base=f"resnet152/b{batch}/none", or_least=True),
                          priority=place)
        else:
            yield setting("resnet152", resnet, batch, "smallest", Budget(),
                          DETAILED if batch == max(PUBLISHED) else (), place)
    for place, batch in enumerate(ENCODER_BATCHES):
        yield setting("encoder", ("encoder",), batch, "none", priority=place + 3)
        yield setting("encoder", ("encoder",), batch, "half", Budget(fraction=0.5, base=f"encoder/b{batch}/none",
                                                                    or_least=True), priority=place + 3)
        yield setting("encoder", ("encoder",), batch, "1.5GB", Budget(bytes=BUDGET), DETAILED, place + 3)
