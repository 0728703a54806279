"""damage.py truncate FILE BYTES | flip FILE OFFSET | replace FILE OLD NEW: breaks a file in place.

A negative BYTES counts from the end. OLD and NEW are texts of one length; OLD must occur. What is replaced in a plan
gets a right checksum, so that it is the text that is found wrong.
"""
import struct
import sys
import zlib

what, path = sys.argv[1:3]
with open(path, "rb") as file:
    data = bytearray(file.read())
if what == "truncate":
    data = data[:int(sys.argv[3])]
elif what == "flip":
    data[int(sys.argv[3])] ^= 0xFF
elif what == "replace":
    old, new = (text.encode() for text in sys.argv[3:5])
    assert len(old) == len(new) and old in data, f"'{sys.argv[3]}' is not in {path}"
    data = data.replace(old, new)
    if data.startswith(b"\x89GCPLAN\n"):  # the header of runtime/plan/PlanSeal.h
        data[12:16] = struct.pack("<I", zlib.crc32(data[16:], zlib.crc32(data[:12])))
else:
    sys.exit("damage.py: unknown damage " + what)
with open(path, "wb") as file:
    file.write(data)
