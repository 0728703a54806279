"""tensors.py: makes and changes safetensors files.

  drop IN OUT NAME          without one tensor
  add IN OUT NAME           with one more, F32 [3]
  rename IN OUT OLD NEW
  reshape IN OUT NAME D...  the same bytes in another shape
  retype IN OUT NAME DTYPE  the same bytes as another type
  shards IN STEM COUNT   in COUNT files STEM-0000N-of-0000M.safetensors with STEM.safetensors.index.json
  batch OUT COUNT LABEL     COUNT random 28 x 28 images of classes 0 to 9, the last one of class LABEL
"""
import json
import os
import random
import struct
import sys


def read(path):
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = file.read()
    header.pop("__metadata__", None)
    return {n: (e["dtype"], e["shape"], data[slice(*e["data_offsets"])]) for n, e in header.items()}


def write(path, tensors):
    header, position = {}, 0
    for name, (dtype, shape, data) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape,
                        "data_offsets": [position, position + len(data)]}
        position += len(data)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for _, _, data in tensors.values():
            file.write(data)


def batch(path, count, last):
    generator = random.Random(2)
    pixels = [generator.gauss(0, 1) for _ in range(count * 28 * 28)]
    labels = [i % 10 for i in range(count - 1)] + [last]
    write(path, {"image": ("F32", [count, 1, 28, 28], struct.pack(f"<{len(pixels)}f", *pixels)),
                 "label": ("I64", [count], struct.pack(f"<{count}q", *labels))})


def shards(source, stem, count):
    tensors, files = read(source), {}
    for number in range(count):
        path = f"{stem}-{number + 1:05}-of-{count:05}.safetensors"
        part = {name: tensor for i, (name, tensor) in enumerate(tensors.items()) if i % count == number}
        write(path, part)
        files.update(dict.fromkeys(part, os.path.basename(path)))
    with open(stem + ".safetensors.index.json", "w") as file:
        json.dump({"metadata": {}, "weight_map": files}, file)


def main(what, *arguments):
    if what == "shards":
        return shards(arguments[0], arguments[1], int(arguments[2]))
    if what == "batch":
        return batch(arguments[0], int(arguments[1]), int(arguments[2]))
    source, target, name, *rest = arguments
    tensors = read(source)
    if what == "add":
        tensors[name] = ("F32", [3], bytes(12))
    elif what == "drop":
        del tensors[name]
    elif what == "rename":
        tensors[rest[0]] = tensors.pop(name)
    elif what == "reshape":
        tensors[name] = (tensors[name][0], [int(d) for d in rest], tensors[name][2])
    elif what == "retype":
        tensors[name] = (rest[0], *tensors[name][1:])
    else:
        sys.exit("tensors.py: unknown change " + what)
    write(target, tensors)


main(*sys.argv[1:])
