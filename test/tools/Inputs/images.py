"""images.py DIRECTORY: a folder of PNG images in 10 classes with a train and a val split, by Python's standard library.

Each class has a bright bar in a place of its own, so that a network can learn it. Sizes and numbers of channels differ.
"""
import os
import random
import struct
import sys
import zlib

generator = random.Random(1)


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width, height, channels, label):
    rows = b""
    for y in range(height):
        rows += b"\0"
        bright = y * 10 // height == label
        for _ in range(width * channels):
            rows += bytes([generator.randrange(150, 256) if bright else generator.randrange(64)])
    header = struct.pack(">IIBBBBB", width, height, 8, 2 if channels == 3 else 0, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows))
            + chunk(b"IEND", b""))


for split, count in (("train", 10), ("val", 4)):
    for label in range(10):
        folder = os.path.join(sys.argv[1], split, f"class{label}")
        os.makedirs(folder, exist_ok=True)
        for i in range(count):
            with open(os.path.join(folder, f"{i}.png"), "wb") as file:
                file.write(png(generator.randrange(20, 50), generator.randrange(20, 50), 3 if i % 2 else 1, label))
