"""changed.py A.safetensors B.safetensors PATTERNS: exactly the tensors whose names match a pattern differ.
changed.py --names A.safetensors NAMES: these tensors are in the file, and no others."""
import fnmatch
import json
import struct
import sys


def load(path):
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = file.read()
    header.pop("__metadata__", None)
    return {name: data[slice(*entry["data_offsets"])] for name, entry in header.items()}


if sys.argv[1] == "--names":
    assert sorted(load(sys.argv[2])) == sorted(sys.argv[3].split()), sorted(load(sys.argv[2]))
    sys.exit()
before, after = load(sys.argv[1]), load(sys.argv[2])
assert before.keys() == after.keys()
for name in before:
    expected = any(fnmatch.fnmatchcase(name, pattern) for pattern in sys.argv[3].split())
    assert (before[name] != after[name]) == expected, name
