"""python networks.py NAME FOLDER: an archive made by hand and what its step must compute.

Writes FOLDER/NAME.pt2 and FOLDER/NAME.check.safetensors, for gc-run --reference.
"""

import math
import os
import sys

import formulas as f
import pt2
from pt2 import Program, count

RATE = 0.1


def numbers(name, shape, scale=0.5, offset=0.0):
    """Numbers that look random: a formula of the name and the place, exact in float32."""
    seed = sum((i + 1) * ord(c) for i, c in enumerate(name)) % 1000
    wave = [math.sin(12.9898 * (i + 1) + 78.233 * seed) * 43758.5453 for i in range(count(shape))]
    return [round((offset + scale * (2 * (w - math.floor(w)) - 1)) * 4096) / 4096 for w in wave]


class Case:
    """A program with its formula: subclasses build the graph, and compute the loss of parameters."""

    labels = [0, 2, 1]
    label_shape = [3]

    def __init__(self):
        self.p = Program()
        self.statistics = {}
        self.build()

    def parameter(self, name, shape, scale=0.5, offset=0.0):
        return self.p.parameter(name, shape, numbers(name, shape, scale, offset))

    def norm(self, name, channels):
        return self.parameter(f"{name}.weight", [channels], 0.2, 1.0), self.parameter(f"{name}.bias", [channels], 0.2)

    def image(self, shape):
        self.x = (list(shape), numbers("image", shape, 1.0))
        return self.p.input("x", shape)

    def correct(self, slopes):
        """Where PyTorch's gradient is none of the loss."""

    def write(self, folder, name):
        path = os.path.join(folder, name)
        self.p.write(path + ".pt2")
        parameters = dict(self.p.numbers)
        slopes = f.gradients(self.loss, parameters)
        self.correct(slopes)
        self.statistics = {}
        tensors = {"input.image": ("I64" if isinstance(self.x[1][0], int) else "F32", self.x[0], self.x[1]),
                   "input.label": ("I64", self.label_shape, self.labels),
                   "loss": ("F64", [], [self.loss(parameters)])}
        for key, (shape, values) in parameters.items():
            tensors[f"gradient.{key}"] = ("F64", shape, slopes[key])
            tensors[f"updated.{key}"] = ("F64", shape, [v - RATE * s for v, s in zip(values, slopes[key])])
        for key, values in self.statistics.items():
            tensors[f"updated.{key}"] = ("F64", [len(values)], values)
        pt2.write_safetensors(path + ".check.safetensors", tensors, {"optimizer": "sgd", "lr": repr(RATE)})


class ConvNet(Case):
    """conv, batch norm, ReLU in place, pool, flatten (C, H, W, as a linear layer's columns), linear."""

    def build(self):
        p = self.p
        x = self.image([3, 2, 4, 4])
        w = self.parameter("conv.weight", [3, 2, 3, 3])
        scale, shift = self.norm("norm", 3)
        fw, fb = self.parameter("fc.weight", [4, 12]), self.parameter("fc.bias", [4])
        mean = p.buffer("norm.running_mean", [3], [0.5, -0.5, 0.25])
        variance = p.buffer("norm.running_var", [3], [1.0, 2.0, 0.5])
        tracked = p.buffer("norm.num_batches_tracked", [], [0], pt2.I64)
        y = p.call("conv2d.default", [3, 3, 4, 4], "conv", input=x, weight=w, bias=None, stride=[1, 1], padding=[1, 1])
        p.call("add_.Tensor", [], "norm", dtype=pt2.I64, self=tracked, other=1)
        y = p.call("batch_norm.default", [3, 3, 4, 4], "norm", input=y, weight=scale, bias=shift, running_mean=mean,
                   running_var=variance, training=True, momentum=0.1, eps=1e-5, cudnn_enabled=False)
        y = p.call("relu_.default", [3, 3, 4, 4], "relu", self=y)
        y = p.call("max_pool2d.default", [3, 3, 2, 2], "pool", self=y, kernel_size=[2, 2], stride=[2, 2])
        y = p.call("flatten.using_ints", [3, 12], self=y, start_dim=1)
        p.output(p.call("linear.default", [3, 4], "fc", input=y, weight=fw, bias=fb))

    def loss(self, w):
        y = f.conv2d(self.x, w["conv.weight"], padding=1)
        y, means, variances = f.batch_norm(y, w["norm.weight"], w["norm.bias"])
        self.statistics = {
            "norm.running_mean": [0.9 * old + 0.1 * new for old, new in zip([0.5, -0.5, 0.25], means)],
            "norm.running_var": [0.9 * old + 0.1 * new for old, new in zip([1.0, 2.0, 0.5], variances)]}
        y = f.max_pool(f.relu(y), 2)
        y = f.linear(f.reshape(y, 3, 12), w["fc.weight"], w["fc.bias"])
        return f.cross_entropy(y, self.labels)


class Mlp(Case):
    """Linear layers as modules and as addmm write them, a scale, a residual that is added in place."""

    def build(self):
        p = self.p
        x = self.image([3, 5])
        w1, b1 = self.parameter("fc1.weight", [6, 5]), self.parameter("fc1.bias", [6])
        w2, b2 = self.parameter("fc2.weight", [6, 6]), self.parameter("fc2.bias", [6])
        w3 = self.parameter("head.weight", [6, 4])
        y = p.call("linear.default", [3, 6], "fc1", input=x, weight=w1, bias=b1)
        z = p.call("gelu.default", [3, 6], "act", self=y)
        z = p.call("addmm.default", [3, 6], "fc2", layer="model.Conv1D", self=b2, mat1=z, mat2=w2)
        z = p.call("mul.Tensor", [3, 6], self=z, other=0.5)
        y = p.call("add_.Tensor", [3, 6], self=y, other=z)
        p.output(p.call("matmul.default", [3, 4], "head", layer="model.Head", self=y, other=w3))

    def loss(self, w):
        y = f.linear(self.x, w["fc1.weight"], w["fc1.bias"])
        z = f.linear(f.gelu(y), f.permute(w["fc2.weight"], 1, 0), w["fc2.bias"])
        y = f.add(y, f.mapped(z, lambda v: v / 2))
        return f.cross_entropy(f.linear(y, f.permute(w["head.weight"], 1, 0)), self.labels)


class Block(Case):
    """A transformer block as timm writes it: a token in front, positions, attention, a residual, a mean."""

    def build(self):
        p = self.p
        n, t, d, h = 3, 4, 4, 2
        x = self.image([n, t - 1, d])
        token, place = self.parameter("token", [1, 1, d]), self.parameter("place", [1, t, d])
        scale, shift = self.norm("norm", d)
        wq, bq = self.parameter("attn.qkv.weight", [3 * d, d]), self.parameter("attn.qkv.bias", [3 * d])
        wp, bp = self.parameter("attn.proj.weight", [d, d]), self.parameter("attn.proj.bias", [d])
        head = self.parameter("head.weight", [4, d])
        tokens = p.call("expand.default", [n, 1, d], self=token, size=[n, -1, -1])
        x = p.call("cat.default", [n, t, d], tensors=[tokens, x], dim=1)
        x = p.call("add.Tensor", [n, t, d], self=x, other=place)
        y = p.call("layer_norm.default", [n, t, d], "norm", input=x, normalized_shape=[d], weight=scale, bias=shift,
                   eps=1e-5)
        y = p.call("linear.default", [n, t, 3 * d], "attn.qkv", input=y, weight=wq, bias=bq)
        y = p.call("reshape.default", [n, t, 3, h, d // h], "attn", layer="model.Attention", self=y,
                   shape=[n, t, 3, h, d // h])
        y = p.call("permute.default", [3, n, h, t, d // h], "attn", layer="model.Attention", self=y,
                   dims=[2, 0, 3, 1, 4])
        q, k, v = p.call("unbind.int", [[n, h, t, d // h]] * 3, "attn", layer="model.Attention", self=y)
        y = p.call("scaled_dot_product_attention.default", [n, h, t, d // h], "attn", layer="model.Attention",
                   query=q, key=k, value=v)
        y = p.call("transpose.int", [n, t, h, d // h], "attn", layer="model.Attention", self=y, dim0=1, dim1=2)
        y = p.call("reshape.default", [n, t, d], "attn", layer="model.Attention", self=y, shape=[n, t, d])
        y = p.call("linear.default", [n, t, d], "attn.proj", input=y, weight=wp, bias=bp)
        x = p.call("add.Tensor", [n, t, d], self=x, other=y)
        y = p.call("mean.dim", [n, d], self=x, dim=[1])
        p.output(p.call("linear.default", [n, 4], "head", input=y, weight=head))

    def loss(self, w):
        n, t, d, h = 3, 4, 4, 2
        x = f.made([n, t, d], lambda b, i, j: (w["token"][1][j] if i == 0 else f.at(self.x, (b, i - 1, j)))
                   + f.at(w["place"], (0, i, j)))
        y = f.linear(f.layer_norm(x, w["norm.weight"], w["norm.bias"]), w["attn.qkv.weight"], w["attn.qkv.bias"])
        parts = f.permute(f.reshape(y, n, t, 3, h, d // h), 2, 0, 3, 1, 4)
        size = n * h * t * (d // h)
        q, k, v = ([n, h, t, d // h], parts[1][:size]), ([n, h, t, d // h], parts[1][size:2 * size]), \
            ([n, h, t, d // h], parts[1][2 * size:])
        y = f.reshape(f.permute(f.attention(q, k, v), 0, 2, 1, 3), n, t, d)
        x = f.add(x, f.linear(y, w["attn.proj.weight"], w["attn.proj.bias"]))
        return f.cross_entropy(f.linear(f.mean(x, 1), w["head.weight"]), self.labels)


class InPlace(Case):
    """What is written through a view reaches the tensor and its other views; what was read before does not change."""

    def build(self):
        p = self.p
        x = self.image([3, 6])
        w, head = self.parameter("fc.weight", [6, 6]), self.parameter("head.weight", [4, 6])
        y = p.call("linear.default", [3, 6], "fc", input=x, weight=w)
        before = p.call("mul.Tensor", [3, 6], self=y, other=2.0)
        left = p.call("slice.Tensor", [3, 2], self=y, dim=1, start=0, end=2)
        square = p.call("view.default", [3, 2, 3], self=y, size=[3, 2, 3])
        p.call("mul_.Tensor", [3, 2], self=left, other=3.0)
        row = p.call("select.int", [3, 3], self=square, dim=1, index=1)
        p.call("relu_.default", [3, 3], "relu", self=row)
        flat = p.call("view.default", [3, 6], self=square, size=[3, 6])
        y = p.call("add.Tensor", [3, 6], self=flat, other=before)
        p.output(p.call("linear.default", [3, 4], "head", input=y, weight=head))

    def loss(self, w):
        y = f.linear(self.x, w["fc.weight"])
        before = f.mapped(y, lambda v: 2 * v)
        after = f.made([3, 6], lambda i, j: f.at(y, (i, j)) * (3 if j < 2 else 1) if j < 3
                       else max(f.at(y, (i, j)), 0.0))
        return f.cross_entropy(f.linear(f.add(after, before), w["head.weight"]), self.labels)


class Views(Case):
    """Images cut, turned and joined in NCHW's order: only layouts change, or the numbers move as they must."""

    def build(self):
        p = self.p
        n, c, s = 3, 4, 2
        x = self.image([n, c, s, s])
        w = self.parameter("conv.weight", [c, c, 1, 1])
        head = self.parameter("head.weight", [4, c * s * s])
        y = p.call("conv2d.default", [n, c, s, s], "conv", input=x, weight=w)
        y = p.call("view.default", [n, 2, 2, s, s], self=y, size=[n, 2, 2, s, s])
        y = p.call("transpose.int", [n, 2, 2, s, s], self=y, dim0=1, dim1=2)
        y = p.call("contiguous.default", [n, 2, 2, s, s], self=y)
        y = p.call("view.default", [n, c, s, s], self=y, size=[n, c, s, s])
        a, b = p.call("chunk.default", [[n, 2, s, s]] * 2, self=y, chunks=2, dim=1)
        y = p.call("cat.default", [n, c, s, s], tensors=[b, a], dim=1)
        turned = p.call("permute.default", [n, s, s, c], self=y, dims=[0, 3, 2, 1])
        y = p.call("permute.default", [n, c, s, s], self=turned, dims=[0, 3, 1, 2])
        y = p.call("roll.default", [n, c, s, s], self=y, shifts=[1], dims=[3])
        y = p.call("flatten.using_ints", [n, c * s * s], self=y, start_dim=1)
        p.output(p.call("linear.default", [n, 4], "head", input=y, weight=head))

    def loss(self, w):
        y = f.conv2d(self.x, w["conv.weight"])
        y = f.reshape(f.permute(f.reshape(y, 3, 2, 2, 2, 2), 0, 2, 1, 3, 4), 3, 4, 2, 2)
        y = f.made([3, 4, 2, 2], lambda n, c, i, j: f.at(y, (n, (c + 2) % 4, (j + 1) % 2, i)))
        return f.cross_entropy(f.linear(f.reshape(y, 3, 16), w["head.weight"]), self.labels)


class Mobile(Case):
    """A depthwise convolution, hardswish, squeeze-excite and a drop path, which a reference always takes."""

    def build(self):
        p = self.p
        n, c, s = 3, 4, 4
        x = self.image([n, c, s, s])
        w = self.parameter("depthwise.weight", [c, 1, 3, 3])
        down, up = self.parameter("squeeze.weight", [2, c, 1, 1]), self.parameter("excite.weight", [c, 2, 1, 1])
        shift = self.parameter("excite.bias", [c])
        head = self.parameter("head.weight", [4, c])
        y = p.call("conv2d.default", [n, c, s, s], "depthwise", input=x, weight=w, bias=None, stride=[1, 1],
                   padding=[1, 1], dilation=[1, 1], groups=c)
        y = p.call("hardswish_.default", [n, c, s, s], "act", self=y)
        z = p.call("adaptive_avg_pool2d.default", [n, c, 1, 1], "squeeze", self=y, output_size=[1, 1])
        z = p.call("conv2d.default", [n, 2, 1, 1], "squeeze", input=z, weight=down)
        z = p.call("relu6.default", [n, 2, 1, 1], "squeeze", self=z)
        z = p.call("conv2d.default", [n, c, 1, 1], "excite", input=z, weight=up, bias=shift)
        z = p.call("hardsigmoid.default", [n, c, 1, 1], "excite", self=z)
        y = p.call("mul.Tensor", [n, c, s, s], self=z, other=y)
        path = p.call("empty.memory_format", [n, 1, 1, 1], "path", size=[n, 1, 1, 1])
        path = p.call("bernoulli_.float", [n, 1, 1, 1], "path", self=path, p=0.75)
        path = p.call("div_.Scalar", [n, 1, 1, 1], "path", self=path, other=0.75)
        y = p.call("mul.Tensor", [n, c, s, s], "path", self=y, other=path)
        y = p.call("add_.Tensor", [n, c, s, s], self=y, other=x)
        y = p.call("mean.dim", [n, c], self=y, dim=[2, 3])
        y = p.call("add.Tensor", [n, c], self=y, other=1.0)
        p.output(p.call("linear.default", [n, 4], "head", input=y, weight=head))

    def loss(self, w):
        n, c, s = 3, 4, 4
        hard = lambda v: min(max(v + 3, 0.0), 6.0) / 6
        y = f.made([n, c, s, s], lambda b, k, i, j: sum(
            f.at(self.x, (b, k, i + u - 1, j + v - 1)) * f.at(w["depthwise.weight"], (k, 0, u, v))
            for u in range(3) for v in range(3) if 0 <= i + u - 1 < s and 0 <= j + v - 1 < s))
        y = f.mapped(y, lambda v: v * hard(v))
        z = f.mean(f.mean(y, 3), 2)
        z = f.mapped(f.linear(z, f.reshape(w["squeeze.weight"], 2, c)), lambda v: min(max(v, 0.0), 6.0))
        z = f.mapped(f.linear(z, f.reshape(w["excite.weight"], c, 2), w["excite.bias"]), hard)
        y = f.made([n, c, s, s], lambda b, k, i, j: f.at(y, (b, k, i, j)) * f.at(z, (b, k))
                   + f.at(self.x, (b, k, i, j)))
        y = f.mapped(f.mean(f.mean(y, 3), 2), lambda v: v + 1)
        return f.cross_entropy(f.linear(y, w["head.weight"]), self.labels)


class Tokens(Case):
    """Tokens to a loss of its own: a table with a row for padding, a causal mask that the graph computes, tanh-GELU."""

    tokens, padding = [2, 1, 0, 0, 3, 4, 1, 2, 4, 4, 4, 0], 0

    def build(self):
        p = self.p
        n, t, d, words = 3, 4, 4, 5
        self.x = ([n, t], list(self.tokens))
        x, labels = p.input("x", [n, t], pt2.I64), p.input("labels", [n], pt2.I64)
        table, place = self.parameter("words.weight", [words, d]), self.parameter("places.weight", [6, d])
        w = self.parameter("attn.weight", [3 * d, d])
        head = self.parameter("head.weight", [4, d])
        y = p.call("embedding.default", [n, t, d], "words", weight=table, indices=x, padding_idx=self.padding)
        at = p.call("arange.default", [t], dtype=pt2.I64, end=t)
        z = p.call("embedding.default", [t, d], "places", weight=place, indices=at)
        y = p.call("add.Tensor", [n, t, d], self=y, other=z)
        rows = p.call("unsqueeze.default", [t, 1], dtype=pt2.I64, self=at, dim=1)
        mask = p.call("ge.Tensor", [t, t], dtype=pt2.BOOL, self=rows, other=at)
        z = p.call("linear.default", [n, t, 3 * d], "attn", input=y, weight=w)
        q, k, v = p.call("split.Tensor", [[n, t, d]] * 3, "attn", self=z, split_size=d, dim=2)
        q, k, v = (p.call("unsqueeze.default", [n, 1, t, d], "attn", self=each, dim=1) for each in (q, k, v))
        z = p.call("scaled_dot_product_attention.default", [n, 1, t, d], "attn", query=q, key=k, value=v,
                   attn_mask=mask)
        z = p.call("squeeze.dim", [n, t, d], "attn", self=z, dim=1)
        z = p.call("gelu.default", [n, t, d], "act", self=z, approximate="tanh")
        y = p.call("add.Tensor", [n, t, d], self=y, other=z)
        y = p.call("select.int", [n, d], self=y, dim=1, index=-1)
        y = p.call("linear.default", [n, 4], "head", input=y, weight=head)
        p.output(p.call("cross_entropy_loss.default", [], "loss", self=y, target=labels))

    def loss(self, w):
        n, t, d = 3, 4, 4
        y = f.made([n, t, d], lambda b, i, j: f.at(w["words.weight"], (self.tokens[b * t + i], j))
                   + f.at(w["places.weight"], (i, j)))
        z = f.linear(y, w["attn.weight"])
        q, k, v = (f.made([n, t, d], lambda b, i, j: f.at(z, (b, i, first + j))) for first in (0, d, 2 * d))

        def seen(b, i, j):
            scores = [sum(f.at(q, (b, i, g)) * f.at(k, (b, o, g)) for g in range(d)) / math.sqrt(d)
                      for o in range(i + 1)]
            weights = [math.exp(s - max(scores)) for s in scores]
            return sum(a * f.at(v, (b, o, j)) for o, a in enumerate(weights)) / sum(weights)
        z = f.mapped(f.made([n, t, d], seen), lambda x: x / 2 * (
            1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3))))
        y = f.add(y, z)
        last = f.made([n, d], lambda b, j: f.at(y, (b, t - 1, j)))
        return f.cross_entropy(f.linear(last, w["head.weight"]), self.labels)

    def correct(self, slopes):
        slopes["words.weight"][:4] = [0.0] * 4  # nothing trains the row of the padding


class Words(Case):
    """A language model: logits of each token, a table that is also the head, causal attention, labels left out."""

    tokens = [2, 1, 0, 3, 3, 4, 1, 2, 4, 4, 4, 0]
    labels, label_shape = [1, 0, -100, 3, 4, -100, -100, -100, 4, 4, 0, -1], [3, 4]

    def build(self):
        p = self.p
        n, t, d, words = 3, 4, 4, 5
        self.x = ([n, t], list(self.tokens))
        x = p.input("x", [n, t], pt2.I64)
        table = self.parameter("words.weight", [words, d])
        head = p.tied("head.weight", "words.weight")
        w = self.parameter("attn.weight", [3 * d, d])
        p.buffer("norm.num_batches_tracked", [], [7], pt2.I64)
        y = p.call("embedding.default", [n, t, d], "words", weight=table, indices=x)
        z = p.call("linear.default", [n, t, 3 * d], "attn", input=y, weight=w)
        q, k, v = p.call("split.Tensor", [[n, t, d]] * 3, "attn", self=z, split_size=d, dim=2)
        q, k, v = (p.call("unsqueeze.default", [n, 1, t, d], "attn", self=each, dim=1) for each in (q, k, v))
        z = p.call("scaled_dot_product_attention.default", [n, 1, t, d], "attn", query=q, key=k, value=v,
                   is_causal=True)
        z = p.call("squeeze.dim", [n, t, d], "attn", self=z, dim=1)
        y = p.call("add.Tensor", [n, t, d], self=y, other=z)
        p.output(p.call("linear.default", [n, t, words], "head", input=y, weight=head))

    def loss(self, w):
        n, t, d, words = 3, 4, 4, 5
        y = f.made([n, t, d], lambda b, i, j: f.at(w["words.weight"], (self.tokens[b * t + i], j)))
        z = f.linear(y, w["attn.weight"])
        q, k, v = (f.made([n, 1, t, d], lambda b, h, i, j: f.at(z, (b, i, first + j))) for first in (0, d, 2 * d))
        z = f.attention(q, k, v, lambda b, h, i, j: 0.0 if j <= i else -math.inf)
        y = f.made([n, t, d], lambda b, i, j: f.at(y, (b, i, j)) + f.at(z, (b, 0, i, j)))
        return f.cross_entropy(f.reshape(f.linear(y, w["words.weight"]), n * t, words), self.labels)


class Window(Case):
    """Attention with positions that are learned, added to a mask of what the graph knows; logits of each pixel."""

    labels, label_shape = [0, 2, 1, -1, 1, 1, 0, 3, 2, 2, -100, 0], [3, 2, 2]

    def build(self):
        p = self.p
        n, c, s, h = 3, 4, 2, 2
        t, d = s * s, c // h
        x = self.image([n, c, s, s])
        w = self.parameter("attn.weight", [3 * c, c])
        place = self.parameter("place", [1, h, t, t])
        hidden = p.buffer("hidden", [t, t], [-2.0 if i % 3 == 1 else 0.0 for i in range(t * t)])
        head = self.parameter("head.weight", [4, c, 1, 1])
        y = p.call("flatten.using_ints", [n, c, t], self=x, start_dim=2)
        y = p.call("transpose.int", [n, t, c], self=y, dim0=1, dim1=2)
        z = p.call("linear.default", [n, t, 3 * c], "attn", input=y, weight=w)
        z = p.call("reshape.default", [n, t, 3, h, d], "attn", self=z, shape=[n, t, 3, h, d])
        z = p.call("permute.default", [3, n, h, t, d], "attn", self=z, dims=[2, 0, 3, 1, 4])
        q, k, v = p.call("unbind.int", [[n, h, t, d]] * 3, "attn", self=z)
        mask = p.call("add.Tensor", [1, h, t, t], "attn", self=place, other=hidden)
        z = p.call("scaled_dot_product_attention.default", [n, h, t, d], "attn", query=q, key=k, value=v,
                   attn_mask=mask)
        z = p.call("transpose.int", [n, t, h, d], "attn", self=z, dim0=1, dim1=2)
        z = p.call("reshape.default", [n, s, s, c], self=z, shape=[n, s, s, c])
        z = p.call("permute.default", [n, c, s, s], self=z, dims=[0, 3, 1, 2])
        p.output(p.call("conv2d.default", [n, 4, s, s], "head", input=z, weight=head))

    def loss(self, w):
        n, c, s, h = 3, 4, 2, 2
        t, d = s * s, c // h
        y = f.made([n, t, c], lambda b, i, j: f.at(self.x, (b, j, i // s, i % s)))
        z = f.permute(f.reshape(f.linear(y, w["attn.weight"]), n, t, 3, h, d), 2, 0, 3, 1, 4)
        size = n * h * t * d
        q, k, v = (([n, h, t, d], z[1][i * size:(i + 1) * size]) for i in range(3))
        z = f.attention(q, k, v, lambda b, e, i, j: f.at(w["place"], (0, e, i, j)) + (
            -2.0 if (i * t + j) % 3 == 1 else 0.0))
        z = f.reshape(f.permute(z, 0, 2, 1, 3), n * t, c)
        return f.cross_entropy(f.linear(z, f.reshape(w["head.weight"], 4, c)), self.labels)


NETWORKS = {"words": Words, "window": Window, "mobile": Mobile, "tokens": Tokens, "convnet": ConvNet, "mlp": Mlp, "block": Block, "in-place": InPlace, "views": Views}

if __name__ == "__main__":
    NETWORKS[sys.argv[1]]().write(sys.argv[2], sys.argv[1])
