"""The small networks on which gradients are compared and values are pinned.

Images are small, so that few ReLU units sit near their kink; batches are large enough that no batch norm
sees fewer than eight values a channel. Seeds come from `pin.py --search`; README.md has the reasons.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    name: str
    network: str
    options: dict  # gc-gen's options but for the batch
    batch: int
    seed: int
    learning_rate: float = 1.0  # one step only: large, so that the update stands out of the weights' rounding
    residual_norm: str = ""  # how the last norm of each residual block is called …
    residual_factor: float = 1.0  # … whose weight and bias are scaled by this
    norm_bias: float = 0.0  # mean bias of batch norms: 2 leaves 2 % of the ReLU units off, few near the kink

    @property
    def classes(self):
        return self.options.get("classes", 10)

    def gen_arguments(self):
        return [self.network] + [f"--{k}={v}" for k, v in self.options.items()] + [f"--batch={self.batch}"]


def resnet(depth, norm, factor, norm_bias, seed):
    return Case(f"resnet-{depth}", "resnet", {"depth": depth, "image": 64, "classes": 10}, 4, seed,
                residual_norm=norm, residual_factor=factor, norm_bias=norm_bias)


ALL = [
    Case("mnist-batch", "mnist", {"image": 112, "norm": "batch"}, 8, seed=4),
    Case("mnist-group", "mnist", {"image": 112, "norm": "group"}, 4, seed=24),
    Case("cnn11", "cnn11", {"image": 32}, 2, seed=14),
    resnet(18, ".bn2", 0.2, 0.0, seed=10),
    resnet(50, ".bn3", 0.2, 2.0, seed=7),
    resnet(152, ".bn3", 0.05, 2.0, seed=5),
    Case("vgg-16", "vgg", {"depth": 16, "image": 224, "classes": 10, "dropout": 0}, 1, seed=20),
    Case("vgg-16-64", "vgg", {"depth": 16, "image": 64, "classes": 10, "dropout": 0}, 2, seed=12),
    Case("vit-tiny", "vit", {"size": "tiny", "image": 32, "classes": 10}, 2, seed=1),
    Case("vit-small", "vit", {"size": "small", "image": 32, "classes": 10}, 2, seed=1),
    Case("encoder", "encoder",
         {"layers": 2, "width": 64, "heads": 4, "ffn": 128, "sequence": 16, "classes": 10}, 4, seed=29),
]
CASES = {case.name: case for case in ALL}
