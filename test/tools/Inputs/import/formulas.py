"""The forward passes of the test networks in plain Python, by their formulas, and gradients by central differences.

Tensors are (shape, flat list). Nothing of gc or PyTorch is used: what gc computes is compared with this.
"""

import itertools
import math

from pt2 import count, strides_of


def indices(shape):
    return itertools.product(*(range(n) for n in shape))


def at(tensor, index):
    shape, data = tensor
    return data[sum(i * s for i, s in zip(index, strides_of(shape)))]


def made(shape, function):
    return list(shape), [function(*index) for index in indices(shape)]


def mapped(tensor, function):
    return tensor[0], [function(v) for v in tensor[1]]


def zipped(a, b, function):
    return a[0], [function(x, y) for x, y in zip(a[1], b[1])]


def add(a, b):
    return zipped(a, b, lambda x, y: x + y)


def reshape(x, *shape):
    assert count(shape) == count(x[0])
    return list(shape), x[1]


def permute(x, *order):
    return made([x[0][d] for d in order],
                lambda *index: at(x, [index[order.index(d)] for d in range(len(order))]))


def relu(x):
    return mapped(x, lambda v: max(v, 0.0))


def gelu(x):
    return mapped(x, lambda v: v * (1 + math.erf(v / math.sqrt(2))) / 2)


def conv2d(x, w, bias=None, stride=1, padding=0):
    (n, c, h, v), (o, _, kh, kw) = x[0], w[0]
    rows, columns = (h + 2 * padding - kh) // stride + 1, (v + 2 * padding - kw) // stride + 1

    def one(b, k, i, j):
        total = bias[1][k] if bias else 0.0
        for ch, di, dj in indices((c, kh, kw)):
            y, z = i * stride + di - padding, j * stride + dj - padding
            if 0 <= y < h and 0 <= z < v:
                total += at(x, (b, ch, y, z)) * at(w, (k, ch, di, dj))
        return total
    return made((n, o, rows, columns), one)


def batch_norm(x, weight, bias, eps=1e-5):
    """Also the batch's mean and unbiased variance of each channel."""
    channels, inner = x[0][1], count(x[0][2:])
    values = [[v for i, v in enumerate(x[1]) if i // inner % channels == c] for c in range(channels)]
    means = [sum(v) / len(v) for v in values]
    variances = [sum((e - m) ** 2 for e in v) / len(v) for v, m in zip(values, means)]

    def one(i, v):
        c = i // inner % channels
        return (v - means[c]) / math.sqrt(variances[c] + eps) * weight[1][c] + bias[1][c]
    n = len(values[0])
    return ((x[0], [one(i, v) for i, v in enumerate(x[1])]), means, [v * n / (n - 1) for v in variances])


def layer_norm(x, weight, bias, eps=1e-5):
    d = x[0][-1]
    result = []
    for start in range(0, len(x[1]), d):
        row = x[1][start:start + d]
        mean = sum(row) / d
        scale = 1 / math.sqrt(sum((v - mean) ** 2 for v in row) / d + eps)
        result += [(v - mean) * scale * w + b for v, w, b in zip(row, weight[1], bias[1])]
    return x[0], result


def max_pool(x, k):
    n, c, h, w = x[0]
    return made((n, c, h // k, w // k), lambda b, ch, i, j: max(
        at(x, (b, ch, i * k + di, j * k + dj)) for di, dj in indices((k, k))))


def linear(x, w, bias=None):
    o, k = w[0]
    rows = [x[1][i:i + k] for i in range(0, len(x[1]), k)]
    return x[0][:-1] + [o], [sum(a * b for a, b in zip(row, w[1][j * k:(j + 1) * k])) + (bias[1][j] if bias else 0.0)
                             for row in rows for j in range(o)]


def attention(q, k, v, bias=lambda b, e, i, j: 0.0):
    """[N, H, S, D] each; the bias is added to the scores."""
    n, h, s, d = q[0]

    def one(b, e, i, f):
        scores = [sum(at(q, (b, e, i, g)) * at(k, (b, e, j, g)) for g in range(d)) / math.sqrt(d) + bias(b, e, i, j)
                  for j in range(s)]
        top = max(scores)
        weights = [math.exp(z - top) for z in scores]
        return sum(p * at(v, (b, e, j, f)) for j, p in enumerate(weights)) / sum(weights)
    return made(q[0], one)


def mean(x, dim):
    shape = x[0][:dim] + x[0][dim + 1:]
    n = x[0][dim]
    return made(shape, lambda *index: sum(at(x, index[:dim] + (i,) + index[dim:]) for i in range(n)) / n)


def cross_entropy(logits, labels):
    """The mean over labels from 0 on."""
    n, c = logits[0]
    total = 0.0
    n = sum(label >= 0 for label in labels)
    for i, label in enumerate(labels):
        if label < 0:
            continue
        row = logits[1][i * c:(i + 1) * c]
        top = max(row)
        total += top + math.log(sum(math.exp(v - top) for v in row)) - row[label]
    return total / n


def gradients(loss, parameters, step=1e-5):
    """By central differences: `parameters` is name to (shape, numbers)."""
    result = {}
    for name, (shape, numbers) in parameters.items():
        slopes = []
        for i, value in enumerate(numbers):
            ends = []
            for moved in (value + step, value - step):
                changed = {**parameters, name: (shape, numbers[:i] + [moved] + numbers[i + 1:])}
                ends.append(loss(changed))
            slopes.append((ends[0] - ends[1]) / (2 * step))
        result[name] = slopes
    return result
