"""The small networks on which gradients are compared and values are pinned.

Images are as small as the network allows, so that few ReLU units sit near their kink; batches are large
enough that no batch norm sees fewer than eight values a channel. Seeds come from `pin.py --search`.
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
    residual_suffix: str = ""  # the last norm of each residual block …
    residual_factor: float = 1.0  # … is scaled by this

    @property
    def classes(self):
        return self.options.get("classes", 10)

    def gen_arguments(self):
        return [self.network] + [f"--{k}={v}" for k, v in self.options.items()] + [f"--batch={self.batch}"]


def resnet(depth, image, suffix, factor, seed):
    return Case(f"resnet-{depth}", "resnet", {"depth": depth, "image": image, "classes": 10}, 4, seed,
                residual_suffix=suffix, residual_factor=factor)


ALL = [
    Case("mnist-batch", "mnist", {"image": 112, "norm": "batch"}, 8, seed=4),
    Case("mnist-group", "mnist", {"image": 112, "norm": "group"}, 4, seed=24),
    Case("cnn11", "cnn11", {"image": 32}, 2, seed=14),
    resnet(18, 64, ".bn2.weight", 0.2, seed=2),
    resnet(50, 32, ".bn3.weight", 0.2, seed=5),
    resnet(152, 32, ".bn3.weight", 0.05, seed=9),
    Case("vgg-16", "vgg", {"depth": 16, "image": 224, "classes": 10, "dropout": 0}, 1, seed=20),
    Case("vgg-16-64", "vgg", {"depth": 16, "image": 64, "classes": 10, "dropout": 0}, 2, seed=1),
    Case("vit-tiny", "vit", {"size": "tiny", "image": 32, "classes": 10}, 2, seed=1),
    Case("vit-small", "vit", {"size": "small", "image": 32, "classes": 10}, 2, seed=1),
    Case("encoder", "encoder",
         {"layers": 2, "width": 64, "heads": 4, "ffn": 128, "sequence": 16, "classes": 10}, 4, seed=29),
]
CASES = {case.name: case for case in ALL}
