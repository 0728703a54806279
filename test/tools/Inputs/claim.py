"""claim.py FILE KEY=VALUE...: changes metadata of a safetensors file, as a checkpoint that lies."""
import json
import struct
import sys

path = sys.argv[1]
with open(path, "rb") as file:
    length, = struct.unpack("<Q", file.read(8))
    header, data = json.loads(file.read(length)), file.read()
for claim in sys.argv[2:]:
    key, _, value = claim.partition("=")
    if key not in header["__metadata__"]:
        sys.exit(f"{path} has no '{key}'")
    header["__metadata__"][key] = value
text = json.dumps(header).encode()
text += b" " * (-len(text) % 8)
with open(path, "wb") as file:
    file.write(struct.pack("<Q", len(text)) + text + data)
