"""Checks models.py against other definitions of the same networks, in float64 on hashed weights.

    python check_models.py        # exit 1 where two definitions disagree

ResNet and VGG are torchvision's: compared with timm's. ViT is timm's: compared with torchvision's. The
encoder, mnist and cnn11 are compared with their formulas written out in matrix products.
"""

import sys

import timm
import torch
import torchvision

import cases
import hashed
import models


def timm_resnet(case, w, x):
    other = timm.create_model(f"resnet{case.options['depth']}", num_classes=case.classes)
    other.load_state_dict(w, strict=False)
    return other.double().train()(x)


def timm_vgg(case, w, x):
    other = timm.create_model("vgg16", num_classes=case.classes, drop_rate=0.0)
    renamed = {n: t for n, t in w.items() if n.startswith("features")}
    for ours, theirs in (("classifier.0", "pre_logits.fc1"), ("classifier.3", "pre_logits.fc2"),
                         ("classifier.6", "head.fc")):
        for kind in ("weight", "bias"):
            shape = other.get_parameter(f"{theirs}.{kind}").shape
            renamed[f"{theirs}.{kind}"] = w[f"{ours}.{kind}"].reshape(shape)
    other.load_state_dict(renamed)
    return other.double().train()(x)


def torchvision_vit(case, w, x):
    width, heads = {"tiny": (192, 3), "small": (384, 6)}[case.options["size"]]
    other = torchvision.models.VisionTransformer(
        image_size=case.options["image"], patch_size=16, num_layers=12, num_heads=heads, hidden_dim=width,
        mlp_dim=4 * width, num_classes=case.classes)
    renamed = {"class_token": w["cls_token"], "encoder.pos_embedding": w["pos_embed"]}
    places = {"conv_proj": "patch_embed.proj", "encoder.ln": "norm", "heads.head": "head"}
    for i in range(12):
        layer, block = f"encoder.layers.encoder_layer_{i}", f"blocks.{i}"
        places |= {f"{layer}.ln_1": f"{block}.norm1", f"{layer}.ln_2": f"{block}.norm2",
                   f"{layer}.self_attention.out_proj": f"{block}.attn.proj",
                   f"{layer}.mlp.0": f"{block}.mlp.fc1", f"{layer}.mlp.3": f"{block}.mlp.fc2"}
        for kind in ("weight", "bias"):
            renamed[f"{layer}.self_attention.in_proj_{kind}"] = w[f"{block}.attn.qkv.{kind}"]
    for theirs, ours in places.items():
        for kind in ("weight", "bias"):
            renamed[f"{theirs}.{kind}"] = w[f"{ours}.{kind}"]
    other.load_state_dict(renamed)
    return other.double().train()(x)


def layer_norm(x, weight, bias, eps):
    centred = x - x.mean(-1, keepdim=True)
    return centred / (centred.square().mean(-1, keepdim=True) + eps).sqrt() * weight + bias


def written_encoder(case, w, x):
    heads, width = case.options["heads"], case.options["width"]
    n, length, _ = x.shape
    for i in range(case.options["layers"]):
        p = {k.removeprefix(f"layers.{i}."): v for k, v in w.items() if k.startswith(f"layers.{i}.")}
        q, k, v = (x @ p["self_attn.in_proj_weight"].T + p["self_attn.in_proj_bias"]).split(width, dim=-1)
        q, k, v = (t.reshape(n, length, heads, width // heads).transpose(1, 2) for t in (q, k, v))
        scores = q @ k.transpose(-1, -2) / (width // heads) ** 0.5
        mixed = (scores.softmax(-1) @ v).transpose(1, 2).reshape(n, length, width)
        mixed = mixed @ p["self_attn.out_proj.weight"].T + p["self_attn.out_proj.bias"]
        x = layer_norm(x + mixed, p["norm1.weight"], p["norm1.bias"], 1e-5)
        hidden = (x @ p["linear1.weight"].T + p["linear1.bias"]).clamp(min=0)
        x = layer_norm(x + hidden @ p["linear2.weight"].T + p["linear2.bias"], p["norm2.weight"], p["norm2.bias"],
                       1e-5)
    return x.mean(1) @ w["head.weight"].T + w["head.bias"]


def convolution(x, weight, bias, stride, padding):
    """As a matrix product over patches, N×H×W×C out."""
    side = weight.shape[-1]
    patches = torch.nn.functional.unfold(x, side, padding=padding, stride=stride).transpose(1, 2)
    out = (x.shape[-1] + 2 * padding - side) // stride + 1
    return (patches @ weight.flatten(1).T + bias).reshape(x.shape[0], out, out, -1)


def dense_head(x, w):
    return (x @ w["fc1.weight"].T + w["fc1.bias"]).clamp(min=0) @ w["fc2.weight"].T + w["fc2.bias"]


def written_mnist(case, w, x):
    i = 0
    while f"blocks.{i}.conv.weight" in w:
        p = {k.removeprefix(f"blocks.{i}."): v for k, v in w.items() if k.startswith(f"blocks.{i}.")}
        y = convolution(x, p["conv.weight"], p["conv.bias"], 2, 1 if x.shape[-1] == 7 else 0)
        n, h, wide, c = y.shape
        if case.options["norm"] == "batch":
            mean, var = y.mean((0, 1, 2)), y.var((0, 1, 2), correction=0)
        else:  # eight channels a group
            groups = y.reshape(n, h, wide, c // 8, 8)
            mean = groups.mean((1, 2, 4)).repeat_interleave(8, 1)[:, None, None]
            var = groups.var((1, 2, 4), correction=0).repeat_interleave(8, 1)[:, None, None]
        y = (y - mean) / (var + 1e-5).sqrt() * p["norm.weight"] + p["norm.bias"]
        x = y.clamp(min=0).permute(0, 3, 1, 2)
        i += 1
    return dense_head(x.flatten(1), w)


def written_cnn11(case, w, x):
    for i in range(11):
        y = convolution(x, w[f"blocks.{i}.conv.weight"], w[f"blocks.{i}.conv.bias"], 1, 2).clamp(min=0)
        x = y.permute(0, 3, 1, 2)
    n, h, wide, c = y.shape
    pooled = y.reshape(n, h // 2, 2, wide // 2, 2, c).amax((2, 4))
    return dense_head(pooled.reshape(n, -1), w)  # the order in memory is H, W, C


OTHERS = {"mnist": written_mnist, "cnn11": written_cnn11, "resnet": timm_resnet, "vgg": timm_vgg,
          "vit": torchvision_vit, "encoder": written_encoder}


def main():
    failed = 0
    for case in cases.ALL:
        w, x = hashed.weights(case, case.seed), hashed.batch(case, case.seed)["image"].double()
        model = models.build(case.network, case.options)
        model.load_state_dict(w, strict=False)
        w = {n: t.double() for n, t in w.items()}
        with torch.no_grad():
            ours, other = model.double()(x), OTHERS[case.network](case, w, x)
        difference = ((ours - other).norm() / ours.norm()).item()
        failed += not difference < 1e-12
        print(f"{case.name:12} {OTHERS[case.network].__name__:16} differ by {difference:.1e} "
              f"{'ok' if difference < 1e-12 else 'FAILED'}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
