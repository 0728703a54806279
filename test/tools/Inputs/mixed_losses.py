"""What gc-run makes of mixed samples, computed again from the formulas.

mixed_losses.py data OUT            a batch file of 12 samples of 4 x 4 x 2 and 3 classes
mixed_losses.py model BATCH         a linear classifier of it as gc IR
mixed_losses.py weights OUT         its weights
mixed_losses.py check REPORT BATCH MICRO-BATCH SEED [mixup=ALPHA] [cutmix=ALPHA]
                                    losses of a run with a learning rate of 0, in order
"""
import array
import json
import math
import random
import struct
import sys

H, W, C, CLASSES, SAMPLES = 4, 4, 2, 3, 12
MASK = 0xFFFFFFFF


def read(path):
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = file.read()
    return {name: data[slice(*entry["data_offsets"])] for name, entry in header.items()}


def write(path, tensors):
    header, data = {}, b""
    for name, (dtype, shape, content) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def floats(values):
    return array.array("f", values).tobytes()


def philox(key, counter):
    k0, k1 = key & MASK, key >> 32
    for _ in range(10):
        a, b = 0xD2511F53 * counter[0], 0xCD9E8D57 * counter[2]
        counter = [(b >> 32) ^ counter[1] ^ k0, b & MASK, (a >> 32) ^ counter[3] ^ k1, a & MASK]
        k0, k1 = (k0 + 0x9E3779B9) & MASK, (k1 + 0xBB67AE85) & MASK
    return counter


def key_of(seed, name):
    wide = (1 << 64) - 1
    salt = 0xCBF29CE484222325
    for c in name.encode():
        salt = (salt ^ c) * 0x100000001B3 & wide
    z = (seed + 0x9E3779B97F4A7C15 * (salt | 1) & wide) ^ salt
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & wide
    z = (z ^ z >> 27) * 0x94D049BB133111EB & wide
    return z ^ z >> 31


def draws(seed, micro_batch):
    key = key_of(seed, "mix")
    return lambda purpose, number, word: (
        philox(key, [micro_batch & MASK, micro_batch >> 32, purpose, number])[word] + 0.5) / 2**32


def log_gamma(shape, unit, purpose):
    """The logarithm of a draw of Gamma(shape, 1): Marsaglia and Tsang."""
    d = (shape + 1 if shape < 1 else shape) - 1 / 3
    for attempt in range(1000):
        u = [unit(purpose, attempt, word) for word in range(4)]
        x = math.sqrt(-2 * math.log(u[0])) * math.cos(2 * math.pi * u[1])
        v = (1 + x / math.sqrt(9 * d)) ** 3
        if v > 0 and math.log(u[2]) < x * x / 2 + d - d * v + d * math.log(v):
            return math.log(d * v) + (math.log(u[3]) / shape if shape < 1 else 0)
    raise AssertionError("no draw fits")


def mixed(samples, wishes, seed, micro_batch):
    """The samples of a micro-batch, mixed, and the share of the first labels."""
    unit = draws(seed, micro_batch)
    cuts = "cutmix" in wishes and ("mixup" not in wishes or unit(0, 0, 0) < 0.5)
    alpha = wishes["cutmix" if cuts else "mixup"]
    share = 1 / (1 + math.exp(log_gamma(alpha, unit, 2) - log_gamma(alpha, unit, 1)))
    partners = samples[::-1]
    if not cuts:
        return [[share * a + (1 - share) * b for a, b in zip(own, other)]
                for own, other in zip(samples, partners)], share
    side, spans = math.sqrt(1 - share), []
    for axis, size in enumerate((H, W)):
        half, centre = int(size * side) // 2, int(size * unit(3, 0, axis))
        spans.append(range(max(0, centre - half), min(size, centre + half)))
    inside = {(c * H + y) * W + x for y in spans[0] for x in spans[1] for c in range(C)}  # channels first
    return [[other[i] if i in inside else own[i] for i in range(len(own))]
            for own, other in zip(samples, partners)], 1 - len(inside) / (H * W * C)


def cross_entropy(logits, label):
    return math.log(sum(math.exp(x) for x in logits)) - logits[label]


def weights():
    generator = random.Random(4)
    return [[generator.gauss(0, 0.5) for _ in range(C * H * W)] for _ in range(CLASSES)]


def check(report, batch, micro_batch, seed, wishes):
    with open(report) as file:
        losses = json.load(file)["loss"]
    tensors = read(batch)
    values = array.array("f", tensors["image"])
    labels = array.array("q", tensors["label"])
    images = [list(values[i * H * W * C:(i + 1) * H * W * C]) for i in range(SAMPLES)]
    rows = [list(array.array("f", row)) for row in weights()]
    per_epoch = SAMPLES // micro_batch
    expected = []
    for index in range(2 * per_epoch):
        chosen = range(index % per_epoch * micro_batch, (index % per_epoch + 1) * micro_batch)
        samples, share = mixed([images[i] for i in chosen], wishes, seed, index)
        total = 0
        for image, own, other in zip(samples, chosen, reversed(chosen)):
            logits = [sum(a * b for a, b in zip(row, image)) for row in rows]
            total += (share * cross_entropy(logits, labels[own])
                      + (1 - share) * cross_entropy(logits, labels[other]))
        expected.append(total / micro_batch)
    steps = [sum(expected[i:i + len(expected) // len(losses)]) * len(losses) / len(expected)
             for i in range(0, len(expected), len(expected) // len(losses))]
    assert len(set(losses)) == len(losses) > 1, "every step draws another share"
    for step, (is_now, should) in enumerate(zip(losses, steps)):
        assert abs(is_now - should) < 1e-5, (step, is_now, should)
    print(len(losses), "losses as computed")


def main():
    what, *rest = sys.argv[1:]
    if what == "data":
        generator = random.Random(3)
        write(rest[0], {
            "image": ("F32", [SAMPLES, C, H, W],
                      floats(generator.gauss(0, 1) for _ in range(SAMPLES * C * H * W))),
            "label": ("I64", [SAMPLES], array.array("q", (i * i % 7 % 3 for i in range(SAMPLES))).tobytes())})
    elif what == "weights":
        # The model flattens H x W x C; files are channels first, as the images in them.
        rows = [[row[(c * H + y) * W + x] for y in range(H) for x in range(W) for c in range(C)] for row in weights()]
        write(rest[0], {"w": ("F32", [CLASSES, H * W * C], floats(x for row in rows for x in row))})
    elif what == "model":
        n, elements = rest[0], H * W * C
        print(f"""module @linear attributes {{gc.classes = {CLASSES} : i64}} {{
  gc.parameter @w : tensor<{CLASSES}x{elements}xf32> = #gc.init<constant, [0.0]>
  func.func @model(%image: tensor<{n}x{H}x{W}x{C}xf32> {{gc.input = "image"}}, %label: tensor<{n}xi32> {{gc.input = "label"}})
      -> (tensor<f32> {{gc.output = "loss"}}, tensor<f32> {{gc.output = "correct"}}) {{
    %w = gc.read @w : tensor<{CLASSES}x{elements}xf32>
    %x = gc.reshape %image : (tensor<{n}x{H}x{W}x{C}xf32>) -> tensor<{n}x{elements}xf32>
    %y = gc.linear %x, %w : (tensor<{n}x{elements}xf32>, tensor<{CLASSES}x{elements}xf32>) -> tensor<{n}x{CLASSES}xf32>
    %loss, %lse = gc.cross_entropy %y, %label : (tensor<{n}x{CLASSES}xf32>, tensor<{n}xi32>) -> (tensor<f32>, tensor<{n}xf32>)
    %correct = gc.accuracy %y, %label : (tensor<{n}x{CLASSES}xf32>, tensor<{n}xi32>) -> tensor<f32>
    return %loss, %correct : tensor<f32>, tensor<f32>
  }}
}}""")
    else:
        wishes = {key: float(value) for key, value in (part.split("=") for part in rest[4:])}
        check(rest[0], rest[1], int(rest[2]), int(rest[3]), wishes)


if __name__ == "__main__":
    main()
