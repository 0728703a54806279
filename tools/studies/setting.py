"""One setting of a study: which network, trained how, within which memory."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Budget:
    """Bytes for all of a step: given, or as a part of the peak of the setting named `base`, or the smallest feasible.

    With `or_least` the smallest feasible budget stands in for one that cannot be met; without, the setting does
    not fit, and its row carries the proven bound.
    """

    bytes: int = 0
    fraction: float = 0
    base: str = ""
    or_least: bool = False

    @property
    def is_least(self):
        return not self.bytes and not self.fraction


@dataclass(frozen=True)
class Setting:
    name: str  # unique in its study, such as 448/64x2/adam/sqrt
    network: str  # as tables call it
    model: tuple  # arguments of gc-gen
    policy: str  # none, sqrt, checkpoints:N or budget
    batch: int  # samples in a step
    optimizer: str = "sgd"
    flags: tuple = ()  # of gc-compile, beside optimizer, policy and budget
    budget: Budget = None
    image: int = 0
    micro_batch: int = 0  # samples in a micro-batch, where the setting says so
    accumulate: str = "1"
    group: str = ""  # measured in turn, so that no group is left out where time is short
    bundle: str = ""  # measured together, so that a comparison is whole
    priority: int = 0  # the lowest are measured first
    details: tuple = field(default=())  # files beside the row: timeline, operations, activations

    def plain_flags(self):
        """Of gc-compile: how the setting trains, without what it recomputes."""
        flags = [f"--optimizer={self.optimizer}", "--lr=0.001", *self.flags]
        return flags if self.accumulate == "1" else [*flags, f"--accumulate={self.accumulate}"]

    def training_flags(self):
        """All of them but --budget, which may have to be found."""
        has_policy = self.budget is None and self.policy != "none"
        return self.plain_flags() + ([f"--remat={self.policy}"] if has_policy else [])
