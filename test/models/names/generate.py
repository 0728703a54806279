"""Writes what the libraries call the tensors of each network: run again when a network is added.

    python test/models/names/generate.py        # needs torch, torchvision and timm

One line a tensor, sorted: `parameter|state NAME SHAPE`, the shape as in a weight file. Large networks
are pinned by the SHA-256 of that listing in hashes.txt.
"""

import hashlib
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2] / "tools" / "compare"))

import models  # noqa: E402
import torch  # noqa: E402

LISTED = [
    ("resnet18", "resnet", {"depth": 18}), ("vgg16", "vgg", {"depth": 16}),
    ("vit_tiny", "vit", {"size": "tiny"}), ("encoder", "encoder", {}),
    ("mnist", "mnist", {"image": 112}), ("mnist_group", "mnist", {"image": 224, "norm": "group"}),
    ("cnn11", "cnn11", {}),
]
HASHED = [
    ("resnet34", "resnet", {"depth": 34}), ("resnet50", "resnet", {"depth": 50}),
    ("resnet101", "resnet", {"depth": 101}), ("resnet152", "resnet", {"depth": 152}),
    ("vgg11", "vgg", {"depth": 11}), ("vgg13", "vgg", {"depth": 13}),
    ("vgg19", "vgg", {"depth": 19}), ("vit_small", "vit", {"size": "small"}),
    ("vit_base", "vit", {"size": "base"}),
]


def listing(network, options):
    with torch.device("meta"):
        model = models.build(network, options)
    parameters = dict(model.named_parameters())
    return "".join(
        f"{'parameter' if name in parameters else 'state'} {name} {'x'.join(map(str, tensor.shape))}\n"
        for name, tensor in sorted(models.tensors(model).items()))


def main():
    for name, network, options in LISTED:
        (HERE / f"{name}.txt").write_text(listing(network, options))
    (HERE / "hashes.txt").write_text("".join(
        f"{name} {hashlib.sha256(listing(network, options).encode()).hexdigest()}\n"
        for name, network, options in HASHED))


if __name__ == "__main__":
    main()
