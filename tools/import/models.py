"""The models of the table: by name, what makes them and what they take."""

import importlib

import torch

# Images are small so that many models are checked in little time; what needs another size says so.
IMAGE = (2, 3, 64, 64)


class Logits(torch.nn.Module):
    """A model of transformers as a module that takes tokens or images and returns logits."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x):
        return self.model(x).logits


class Pooled(torch.nn.Module):
    """A model that returns a state for each position, with a head on their mean."""

    def __init__(self, model, width, classes=10):
        super().__init__()
        self.model, self.head = model, torch.nn.Linear(width, classes)

    def forward(self, x):
        return self.head(self.model(x).last_hidden_state.mean(1))


class UNet(torch.nn.Module):
    """Down, across and up with skips; a class for an image from the mean of its last map, or one a pixel."""

    def __init__(self, width=16, classes=10, pixels=False):
        super().__init__()
        self.pixels = pixels

        def block(inputs, outputs):
            return torch.nn.Sequential(
                torch.nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), torch.nn.BatchNorm2d(outputs),
                torch.nn.ReLU(inplace=True), torch.nn.Conv2d(outputs, outputs, 3, padding=1, bias=False),
                torch.nn.BatchNorm2d(outputs), torch.nn.ReLU(inplace=True))
        self.down1, self.down2, self.middle = block(3, width), block(width, 2 * width), block(2 * width, 4 * width)
        self.pool = torch.nn.MaxPool2d(2)
        self.up2 = torch.nn.ConvTranspose2d(4 * width, 2 * width, 2, stride=2)
        self.merge2 = block(4 * width, 2 * width)
        self.up1 = torch.nn.Upsample(scale_factor=2, mode="nearest")
        self.merge1 = block(3 * width, width)
        self.head = torch.nn.Conv2d(width, classes, 1)

    def forward(self, x):
        a = self.down1(x)
        b = self.down2(self.pool(a))
        c = self.middle(self.pool(b))
        b = self.merge2(torch.cat([self.up2(c), b], 1))
        a = self.merge1(torch.cat([self.up1(b), a], 1))
        return self.head(a) if self.pixels else self.head(a).mean((2, 3))


class Denoiser(torch.nn.Module):
    """A small diffusion denoiser: residual blocks with group norm and SiLU, and attention at the middle."""

    def __init__(self, width=32, classes=10):
        super().__init__()
        self.enter = torch.nn.Conv2d(3, width, 3, padding=1)
        self.norm1, self.conv1 = torch.nn.GroupNorm(8, width), torch.nn.Conv2d(width, width, 3, padding=1)
        self.norm2, self.conv2 = torch.nn.GroupNorm(8, width), torch.nn.Conv2d(width, width, 3, padding=1)
        self.down = torch.nn.Conv2d(width, width, 3, stride=2, padding=1)
        self.norm3, self.attention = torch.nn.GroupNorm(8, width), torch.nn.MultiheadAttention(width, 4, batch_first=True)
        self.up = torch.nn.ConvTranspose2d(width, width, 4, stride=2, padding=1)
        self.leave = torch.nn.Conv2d(width, classes, 3, padding=1)

    def forward(self, x):
        x = self.enter(x)
        y = self.conv1(torch.nn.functional.silu(self.norm1(x)))
        x = x + self.conv2(torch.nn.functional.silu(self.norm2(y)))
        y = self.down(x)
        n, c, h, w = y.shape
        z = self.norm3(y).flatten(2).transpose(1, 2)
        z, _ = self.attention(z, z, z, need_weights=False)
        y = y + z.transpose(1, 2).reshape(n, c, h, w)
        return self.leave(x + self.up(y)).mean((2, 3))


def torchvision(name, **arguments):
    return lambda: getattr(importlib.import_module("torchvision.models"), name)(**arguments)


def timm(name, **arguments):
    return lambda: importlib.import_module("timm").create_model(name, **arguments)


def transformers(model, config, wrap=Logits, **sizes):
    def build():
        library = importlib.import_module("transformers")
        made = getattr(library, model)(getattr(library, config)(**sizes))
        made.config.use_cache = False
        return wrap(made)
    return build


SMALL = dict(num_hidden_layers=2, hidden_size=64, num_attention_heads=4, intermediate_size=128)

# name: (what makes it, shape of the batch, tokens below this number or 0)
MODELS = {
    **{name: (torchvision(name), IMAGE, 0) for name in (
        "resnet18", "resnet50", "resnet152", "wide_resnet50_2", "resnext50_32x4d", "vgg11", "vgg11_bn", "vgg16",
        "vgg16_bn", "alexnet", "squeezenet1_1", "densenet121", "mobilenet_v2", "mobilenet_v3_small",
        "mobilenet_v3_large", "shufflenet_v2_x1_0", "mnasnet1_0", "efficientnet_b0", "efficientnet_v2_s",
        "regnet_x_400mf", "regnet_y_400mf", "convnext_tiny", "swin_t", "swin_v2_t")},
    "googlenet": (torchvision("googlenet", aux_logits=False, init_weights=False), IMAGE, 0),
    "inception_v3": (torchvision("inception_v3", aux_logits=False, init_weights=False), (2, 3, 128, 128), 0),
    "vit_b_16": (torchvision("vit_b_16", image_size=64), IMAGE, 0),
    "maxvit_t": (torchvision("maxvit_t"), (1, 3, 224, 224), 0),
    **{name: (timm(name, img_size=64), IMAGE, 0) for name in (
        "vit_tiny_patch16_224", "deit_tiny_patch16_224", "deit3_small_patch16_224", "beit_base_patch16_224",
        "mixer_s32_224", "cait_xxs24_224", "xcit_nano_12_p16_224")},
    "eva02_tiny_patch14_224": (timm("eva02_tiny_patch14_224", img_size=56), (2, 3, 56, 56), 0),
    **{name: (timm(name), IMAGE, 0) for name in (
        "convmixer_768_32", "resnetv2_50", "nfnet_l0", "poolformer_s12", "pvt_v2_b0", "edgenext_xx_small")},
    "levit_128s": (timm("levit_128s"), (2, 3, 224, 224), 0),
    "coat_lite_tiny": (timm("coat_lite_tiny", img_size=64), IMAGE, 0),
    "bert": (transformers("BertForSequenceClassification", "BertConfig", vocab_size=1000, **SMALL), (2, 16), 1000),
    "distilbert": (transformers("DistilBertForSequenceClassification", "DistilBertConfig", n_layers=2, dim=64,
                                n_heads=4, hidden_dim=128, vocab_size=1000), (2, 16), 1000),
    "gpt2": (transformers("GPT2Model", "GPT2Config", lambda m: Pooled(m, 64), n_layer=2, n_embd=64, n_head=4,
                          vocab_size=1000, bos_token_id=0, eos_token_id=0), (2, 16), 1000),
    "gpt2-lm": (transformers("GPT2LMHeadModel", "GPT2Config", n_layer=2, n_embd=64, n_head=4, vocab_size=1000,
                             attn_pdrop=0.0, bos_token_id=0, eos_token_id=0), (2, 16), 1000),
    "t5-encoder": (transformers("T5EncoderModel", "T5Config", lambda m: Pooled(m, 64), num_layers=2, d_model=64,
                                d_kv=16, d_ff=128, num_heads=4, vocab_size=1000), (2, 16), 1000),
    "vit-transformers": (transformers("ViTForImageClassification", "ViTConfig", image_size=64, **SMALL), IMAGE, 0),
    "u-net": (UNet, (2, 3, 32, 32), 0),
    "u-net-pixels": (lambda: UNet(pixels=True), (2, 3, 32, 32), 0),
    "denoiser": (Denoiser, (2, 3, 16, 16), 0),
}
