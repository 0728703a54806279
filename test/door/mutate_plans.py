"""mutate_plans.py BIN MODELS [--seed=1] [--count=100] [--sealed=100]: plans that were damaged, given to gc-run and gc-diff.

BIN holds gc-compile, gc-run and gc-diff, MODELS mlp.mlir and convnet.mlir. `--count` plans have one bit flipped, are cut, or have
something behind their end: every one must be refused with exit code 2. `--sealed` plans have a number changed and their
checksum computed anew: they may train or be compared, but no signal and no hang. The machine code in a plan is not touched: it can do
what it likes (runtime/plan/README.md).
"""
import argparse
import json
import pathlib
import random
import struct
import sys
import tempfile
import zlib

import bounded

HEADER = 24  # magic, version, checksum, length: runtime/plan/PlanSeal.h
CHECKSUM = 12


def seal(content):
    """A plan file around a FlatBuffer."""
    start = b"\x89GCPLAN\n" + struct.pack("<I", 5)  # kPlanVersion
    length = struct.pack("<Q", len(content))
    checksum = zlib.crc32(content, zlib.crc32(length, zlib.crc32(start)))
    return start + struct.pack("<I", checksum) + length + content


def machine_code(content):
    """Where the kernels' shared object lies: a vector of bytes, its length in front."""
    begin = content.index(b"\x7fELF")
    return range(begin, begin + struct.unpack_from("<I", content, begin - 4)[0])


def damaged(plan, dice):
    """A file that is not what was written, and how it came to be so."""
    kind = dice.random()
    if kind < 0.02:
        length = dice.randrange(len(plan))
        return plan[:length], f"the first {length} bytes"
    if kind < 0.04:
        more = dice.randbytes(dice.choice([1, 8, 1000]))
        return plan + more, f"{len(more)} bytes more"
    # The header is small and every bit of it means something else: one in ten is there.
    bit = dice.randrange(8 * (HEADER if dice.random() < 0.1 else len(plan)))
    changed = bytearray(plan)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed), f"bit {bit} flipped"


def resealed(plan, dice):
    """A file whose checksum is right around a number that may be wrong."""
    content = bytearray(plan[HEADER:])
    code = machine_code(content)
    while (at := dice.randrange(0, len(content) - 8, 4)) in code or at + 7 in code:
        pass
    width, letter = dice.choice([(4, "I"), (8, "Q"), (1, "B"), (2, "H")])
    old = struct.unpack_from("<" + letter, content, at)[0]
    new = dice.choice([0, 1, old + 1, old - 1, old * 2, old ^ 1 << dice.randrange(8 * width), dice.getrandbits(8 * width),
                       1 << 31, 1 << 32, 1 << 40, (1 << 31) - 1, (1 << 63) - 1, -1]) % (1 << 8 * width)
    struct.pack_into("<" + letter, content, at, new)
    return seal(content), f"{width} bytes at {HEADER + at}: {old} became {new}"


def compared_badly(outcome, written, sealed):
    """Why this comparison is a bug, or None: both files are there and readable, or none is."""
    if outcome.code != 0:
        return "left a file behind" if written else None
    if not sealed:
        return "compared a damaged plan"
    if len(written) != 2:
        return "wrote one file of two"
    json.loads(written[1].read_text(encoding="utf-8"))
    return None if written[0].read_text(encoding="utf-8", errors="replace").endswith("</html>\n") else "wrote half a page"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin", type=pathlib.Path)
    parser.add_argument("models", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--sealed", type=int, default=100)
    options = parser.parse_args()
    flips, seals, diffs = bounded.Tally(), bounded.Tally(), bounded.Tally()
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "damaged.plan")
        plans = []
        for model in ("mlp", "convnet"):
            path = pathlib.Path(folder, model + ".plan")
            made = bounded.run([options.bin / "gc-compile", options.models / (model + ".mlir"), "-o", path, "--threads=2"],
                               seconds=120)
            assert made.code == 0, made.errors
            plans.append(path.read_bytes())
            assert seal(plans[-1][HEADER:]) == plans[-1], "this script computes another checksum than gc-compile"
        command = [options.bin / "gc-run", file, "--steps=1", "--workers=1"]
        for number in range(options.count + options.sealed):
            sealed = number >= options.count
            dice = random.Random(f"{options.seed} {number}")
            content, how = (resealed if sealed else damaged)(dice.choice(plans), dice)
            file.write_bytes(content)
            outcome = bounded.run(command)
            complaint = None if sealed or outcome.code == 2 else "was not refused with exit code 2"
            case = f"--seed={options.seed}, number {number} ({how})"
            (seals if sealed else flips).add(outcome, case, complaint)
            compared = bounded.run([options.bin / "gc-diff", folder + "/mlp.plan", file, "--all", f"--report={folder}/report.json",
                                    f"--html={folder}/page.html"])
            written = sorted(path for path in pathlib.Path(folder).iterdir() if path.suffix in (".json", ".html"))
            complaint = compared_badly(compared, written, sealed)
            diffs.add(compared, case, complaint)
            for path in written:
                path.unlink()
        left = sorted(path.name for path in pathlib.Path(folder).iterdir() if path.suffix != ".plan")
        assert not left, f"gc-run left {left} behind"
    return flips.finish("damaged plans") | seals.finish("plans with a number changed and a right checksum") | diffs.finish("comparisons with these")


if __name__ == "__main__":
    sys.exit(main())
