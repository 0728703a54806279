"""near_weights.py A B TOLERANCE: two weight files have the same tensors, and their values are that near."""

import json
import struct
import sys


def tensors(path):
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = file.read()
    header.pop("__metadata__", None)
    return {name: struct.unpack(f"<{(end - begin) // 4}f", data[begin:end])
            for name, entry in header.items() for begin, end in [entry["data_offsets"]]}


a, b = tensors(sys.argv[1]), tensors(sys.argv[2])
if a.keys() != b.keys():
    sys.exit(f"different tensors: {sorted(a)} and {sorted(b)}")
off = max(abs(x - y) for name in a for x, y in zip(a[name], b[name]))
if not off <= float(sys.argv[3]):
    sys.exit(f"off by {off}")
