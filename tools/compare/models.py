"""The networks of gc-gen in PyTorch, with exactly the parameter names that gc-gen uses.

    python models.py        # prints every published size and checks it; exit 1 where one differs
"""

import sys

import timm
import torch
import torchvision
from torch import nn

# The chain that images of 3584² walk through in full; smaller images enter it later.
MNIST_CHANNELS = [8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 96]
MNIST_BLOCKS = {112: 7, 224: 8, 448: 9, 896: 10, 1792: 11, 3584: 12}
CNN11_CHANNELS = [10, 20, 40, 60, 40, 40, 40, 40, 40, 20, 20]


class MnistBlock(nn.Module):
    def __init__(self, inputs, outputs, padding, norm):
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, 2, stride=2, padding=padding)
        self.norm = nn.BatchNorm2d(outputs) if norm == "batch" else nn.GroupNorm(outputs // 8, outputs)

    def forward(self, x):
        return torch.relu(self.norm(self.conv(x)))


class Mnist(nn.Module):
    """[conv 2×2 stride 2, norm, ReLU] until 1×1, then 96 → 32 → classes."""

    def __init__(self, image=112, norm="batch", classes=10):
        super().__init__()
        channels = [1] + MNIST_CHANNELS[-MNIST_BLOCKS[image]:]
        blocks, side = [], image
        for inputs, outputs in zip(channels, channels[1:]):
            padding = 1 if side == 7 else 0
            blocks.append(MnistBlock(inputs, outputs, padding, norm))
            side = (side + 2 * padding) // 2
        assert side == 1, side
        self.blocks = nn.Sequential(*blocks)
        self.fc1 = nn.Linear(channels[-1], 32)
        self.fc2 = nn.Linear(32, classes)

    def forward(self, x):
        return self.fc2(torch.relu(self.fc1(self.blocks(x).flatten(1))))


class Cnn11Block(nn.Module):
    def __init__(self, inputs, outputs, pool):
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, 5, padding=2)
        self.pool = pool

    def forward(self, x):
        return nn.functional.max_pool2d(torch.relu(self.conv(x)), self.pool)


class Cnn11(nn.Module):
    """Eleven [conv 5×5, ReLU, max-pool]; the study's framework is channels-last, so it flattens H, W, C."""

    def __init__(self, image=256, classes=10):
        super().__init__()
        channels = [1] + CNN11_CHANNELS
        pools = [1] * (len(CNN11_CHANNELS) - 1) + [2]
        self.blocks = nn.Sequential(
            *(Cnn11Block(i, o, p) for i, o, p in zip(channels, channels[1:], pools)))
        self.fc1 = nn.Linear((image // 2) ** 2 * channels[-1], 32)
        self.fc2 = nn.Linear(32, classes)

    def forward(self, x):
        x = self.blocks(x).permute(0, 2, 3, 1).flatten(1)
        return self.fc2(torch.relu(self.fc1(x)))


class Encoder(nn.TransformerEncoder):
    """Post-norm Transformer encoder and a head on the mean over the sequence. A subclass, so that the
    parameters are called `layers.N.…` and `head.…` with nothing in front."""

    def __init__(self, layers=6, width=512, heads=8, ffn=2048, classes=10):
        layer = nn.TransformerEncoderLayer(width, heads, ffn, dropout=0.0, batch_first=True)
        super().__init__(layer, layers, enable_nested_tensor=False)
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        return self.head(super().forward(x).mean(dim=1))


def mnist(image=112, norm="batch", classes=10):
    return Mnist(image, norm, classes)


def cnn11(image=256):
    return Cnn11(image)


def vgg(depth=16, image=224, classes=1000, dropout=0.5):
    del image  # the adaptive pool makes the parameters independent of it
    return getattr(torchvision.models, f"vgg{depth}")(weights=None, num_classes=classes, dropout=dropout)


def resnet(depth=50, image=224, classes=1000):
    del image
    return getattr(torchvision.models, f"resnet{depth}")(weights=None, num_classes=classes)


def vit(size="small", patch=16, image=224, classes=1000):
    return timm.create_model(f"vit_{size}_patch16_224", pretrained=False, img_size=image,
                             patch_size=patch, num_classes=classes)


def encoder(layers=6, width=512, heads=8, ffn=2048, sequence=128, classes=10):
    del sequence  # no position embedding
    return Encoder(layers, width, heads, ffn, classes)


NETWORKS = {f.__name__: f for f in (mnist, cnn11, vgg, resnet, vit, encoder)}


def build(network, options):
    """The network in training mode; `options` are gc-gen's, without `batch`."""
    options = {k: v for k, v in options.items() if k != "batch"}
    return NETWORKS[network](**options).train()


def input_shape(network, options):
    """Shape of one `image` sample in a batch file."""
    if network == "encoder":
        return [options.get("sequence", 128), options.get("width", 512)]
    image = options.get("image", {"mnist": 112, "cnn11": 256}.get(network, 224))
    return [1 if network in ("mnist", "cnn11") else 3, image, image]


def tensors(model):
    """The tensors that travel in a weight file, by name: parameters, then running statistics.
    `num_batches_tracked` stays out: gc has no such state."""
    found = dict(model.named_parameters())
    found.update((n, b) for n, b in model.named_buffers() if n.split(".")[-1].startswith("running_"))
    return found


PUBLISHED = [
    ("resnet", {"depth": 18}, 11_689_512), ("resnet", {"depth": 34}, 21_797_672),
    ("resnet", {"depth": 50}, 25_557_032), ("resnet", {"depth": 101}, 44_549_160),
    ("resnet", {"depth": 152}, 60_192_808), ("vgg", {"depth": 16}, 138_357_544),
    ("vit", {"size": "tiny"}, 5_717_416), ("vit", {"size": "small"}, 22_050_664),
    ("vit", {"size": "base"}, 86_567_656), ("vit", {"size": "base", "classes": 10}, 85_806_346),
    ("cnn11", {}, 10_821_742), ("encoder", {}, 18_919_434),
    ("mnist", {"image": 112}, 133_650), ("mnist", {"image": 3584}, 151_770),
]


def main():
    wrong = 0
    for network, options, published in PUBLISHED:
        with torch.device("meta"):  # counts need no memory
            count = sum(p.numel() for p in build(network, options).parameters())
        wrong += count != published
        label = " ".join([network] + [f"--{k}={v}" for k, v in options.items()])
        print(f"{label:32} {count:12,} {'ok' if count == published else f'published {published:,}'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
