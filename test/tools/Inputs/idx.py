"""idx.py DIRECTORY [--gzip] [--label=N]: a small data set in MNIST's format.

256 training and 80 test images of 28 x 28: noise with a bright bar whose place tells the class, so
that a network can learn it. --label gives the first training sample an impossible label.
"""
import argparse
import gzip
import os
import random
import struct

parser = argparse.ArgumentParser()
parser.add_argument("directory")
parser.add_argument("--gzip", action="store_true")
parser.add_argument("--label", type=int)
arguments = parser.parse_args()
os.makedirs(arguments.directory, exist_ok=True)
generator = random.Random(1)
dark = bytes(value // 4 for value in range(256))


def write(name, data):
    path = os.path.join(arguments.directory, name)
    if arguments.gzip:
        with open(path + ".gz", "wb") as file:
            file.write(gzip.compress(data, mtime=0))
    else:
        with open(path, "wb") as file:
            file.write(data)


for split, count in (("train", 256), ("t10k", 80)):
    labels = bytes(i * 7 % 10 for i in range(count))
    images = bytearray()
    for label in labels:
        image = bytearray(generator.randbytes(28 * 28).translate(dark))
        for row in range(label * 2 + 4, label * 2 + 7):
            image[row * 28:row * 28 + 28] = bytes([255]) * 28
        images += image
    if arguments.label is not None and split == "train":
        labels = bytes([arguments.label]) + labels[1:]
    write(f"{split}-images-idx3-ubyte", struct.pack(">4B3I", 0, 0, 8, 3, count, 28, 28) + images)
    write(f"{split}-labels-idx1-ubyte", struct.pack(">4BI", 0, 0, 8, 1, count) + labels)
