"""state.py TRAINED STATE: the tensors of a state_dict(), and whether each is the trained one."""

import json
import struct
import sys


def tensors(path):
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = file.read()
    header.pop("__metadata__", None)
    return {name: (entry["dtype"], entry["shape"], data[slice(*entry["data_offsets"])]) for name, entry in header.items()}


trained, state = map(tensors, sys.argv[1:])
for name, (dtype, shape, data) in sorted(state.items()):
    is_trained = any(data == other for _, _, other in trained.values())
    print(name, dtype, shape, "trained" if is_trained else struct.unpack("<q", data)[0] if dtype == "I64" else "as it was")
