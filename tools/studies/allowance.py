"""How long a study may take, and what is measured in that time. Sees rows and settings, runs nothing."""

import math
from collections import defaultdict
from dataclasses import dataclass


@dataclass(frozen=True)
class Size:
    name: str
    rank: int  # what a smaller size only predicted is measured by a larger one
    seconds: float  # in all, figures included; infinite: everything that fits the machine is measured
    timed_seconds: float  # steps are timed for about so long
    least_steps: int
    most_steps: int
    epochs: int = 0  # where a study trains on real data

    def timed_steps(self, step_seconds):
        wanted = math.ceil(self.timed_seconds / max(step_seconds, 1e-6))
        return min(max(wanted, self.least_steps), self.most_steps)


SIZES = {
    "quick": Size("quick", 0, 540, 6, 1, 5),
    "default": Size("default", 1, 3600, 20, 3, 20),
    "full": Size("full", 2, math.inf, 60, 5, 50, epochs=2),
}
DRAWING_SECONDS = 40  # of the whole, kept for figures and pages
STARTING_SECONDS = 1.5  # a process, its arena and its report
COMPILING_SECONDS = 2  # where only an outline of the plan was made
SLOWER = 1.3  # than predicted, until measurements of the network say how much


def rank_of(row):
    return SIZES[row["size"]].rank if row["size"] in SIZES else 0


def stands(row, size):
    """Whether a row or prediction means the same in a study of this size: --quick compiles for cuda without cuDNN."""
    return row["device"] == "cpu" or row["size"] != "quick" or size.name == "quick"


def is_done(row, size, retry):
    """Whether a setting's last row stands for a study of this size."""
    if not stands(row, size):
        return False
    if row["how"] in ("predicted", "not run"):
        return rank_of(row) >= size.rank
    return row["how"] != "failed" or not retry


def median_ratio(rows, network):
    """How many times as long as predicted the network's steps took so far."""
    ratios = sorted(row["step_seconds"] / row["predicted_step_seconds"] for row in rows
                    if row["network"] == network and row["step_seconds"] and row["predicted_step_seconds"])
    return ratios[len(ratios) // 2] if ratios else SLOWER


def median_compiling(rows, network):
    """Seconds that the network's plans took to compile so far."""
    seconds = sorted(row["compile_seconds"] for row in rows if row["network"] == network and row["compile_seconds"])
    return seconds[len(seconds) // 2] if seconds else COMPILING_SECONDS


def estimate(prediction, steps, ratio, compiling):
    """Seconds that measuring a setting takes; `compiling` is 0 where its plan is there."""
    return STARTING_SECONDS + compiling + steps * ratio * prediction["predicted_step_seconds"]


def measuring_order(settings, cost):
    """Bundles of settings in the order in which they are measured: by priority, then each group in turn, and in a group
    the cheapest first. `cost` tells a setting's seconds."""
    bundles = defaultdict(list)
    for setting in settings:
        bundles[setting.bundle or setting.name].append(setting)
    waiting = defaultdict(list)
    for bundle in bundles.values():
        priority = min(setting.priority for setting in bundle)
        waiting[priority, bundle[0].group].append((sum(map(cost, bundle)), bundle))
    ordered = []
    for priority in sorted({key[0] for key in waiting}):
        queues = [sorted(queue, key=lambda entry: entry[0]) for (own, _), queue in waiting.items() if own == priority]
        queues.sort(key=lambda queue: queue[0][0])
        while queues:
            ordered += [queue.pop(0)[1] for queue in queues]
            queues = [queue for queue in queues if queue]
    return ordered
