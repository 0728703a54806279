#!/usr/bin/env python3
"""gpus.py [--build=DIR] [--targets=sm_86,...] [--check=FILE]: which GPU runs a plan with which driver, as a table.

For each architecture a small plan is compiled, with machine code where there is an assembler, and run on the emulated
driver in each version: its answer is what that driver says (machine code that it would read, machine code that it
refuses, PTX that is too new). For each card gc-cudnn-table restores cuDNN's plans of the architecture, fitted to card
and driver as the runtime does it. The table goes to standard output; --check compares a file's rows with it instead,
those of the targets that were named.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

DRIVERS = {"525": 12000, "535": 12020, "550": 12040, "570": 12080, "580": 13000, "590": 13010}
CUDNN_DRIVER = 13000  # cuDNN for CUDA 13, the installed one, needs its driver


def version(cuda):
    return f"{cuda // 1000}.{cuda % 1000 // 10}"


def capability(target):
    digits = target.removeprefix("sm_")
    return f"{digits[:-1]}.{digits[-1]}"


def cudnn_text(restored, planned, asked, cuda):
    """What a cell says of cuDNN: how many of its graphs run, where not all that were asked for do."""
    if not 0 <= restored <= planned <= asked or asked == 0:
        sys.exit(f"gpus.py: gc-cudnn-table counts {restored} graphs restored, {planned} planned, {asked} asked for")
    if restored == asked:
        return ", cuDNN" if cuda >= CUDNN_DRIVER else ", cuDNN¹"
    missing = f" ({asked - planned} not planned)" if planned < asked else ""
    return f", cuDNN {restored} of {asked}{missing}, twins"


class Gpus:
    def __init__(self, build, targets):
        self.bin = os.path.join(build, "bin")
        self.emulator = os.path.join(build, "lib", "emulator")
        self.root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        self.targets = targets

    def run(self, *command, **environment):
        return subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True)

    def cards(self):
        """target and card of each line of gc-compile --targets."""
        listing = self.run(os.path.join(self.bin, "gc-compile"), "--targets").stdout
        for line in listing.splitlines()[1:]:
            fields = re.split(r"\s{2,}", line)
            if len(fields) >= 3 and (not self.targets or fields[0] in self.targets):
                yield fields[0], fields[1]

    def loads(self, target, plan):
        """driver -> how its kernels load: 'cubin', 'PTX' or 'refused: why'."""
        model = os.path.join(self.root, "models", "mlp.mlir")
        made = self.run(os.path.join(self.bin, "gc-compile"), model, "--device=cuda", f"--target={target}",
                        "--cuda-library=none", "-o", plan)
        if made.returncode != 0:
            sys.exit(f"gpus.py: {made.stderr}")
        answers = {}
        for driver, cuda in DRIVERS.items():
            ran = self.run(os.path.join(self.bin, "gc-run"), plan, "--device=cuda", "--steps=1",
                           LD_LIBRARY_PATH=self.emulator, GC_EMULATOR_SM=capability(target),
                           GC_EMULATOR_DRIVER=version(cuda))
            if ran.returncode == 4:
                needs = re.search(r"needs CUDA [0-9.]+ \(driver (\d+)\)", ran.stderr)
                answers[driver] = f"needs {needs[1]}" if needs else "refused"
            elif ran.returncode != 0:
                sys.exit(f"gpus.py: {target}, driver {driver}: {ran.stderr}")
            else:
                # The emulated driver has no device for machine code: 209 is one that it could read.
                reads = "CUDA_ERROR_NO_BINARY_FOR_GPU" in ran.stderr
                answers[driver] = "cubin" if reads else "PTX"
        return answers

    def restored(self):
        """(card, driver's CUDA) -> graphs of cuDNN that were restored, planned, asked for."""
        command = [os.path.join(self.bin, "gc-cudnn-table"), "--cards", *self.targets]
        made = self.run(*command)
        if made.returncode != 0:
            sys.exit(f"gpus.py: {made.stderr}")
        answers = {}
        for line in made.stdout.splitlines():
            _, card, cuda, *counts, _ = line.split("\t")
            answers[card, int(cuda)] = tuple(int(count) for count in counts)
        return answers

    def rows(self):
        restored = self.restored()
        loads = {}
        with tempfile.TemporaryDirectory() as directory:
            for target, _ in self.cards():
                if target not in loads:
                    loads[target] = self.loads(target, os.path.join(directory, target))
        for target, card in self.cards():
            cells = []
            for driver, cuda in DRIVERS.items():
                how = loads[target][driver]
                if how in ("cubin", "PTX"):
                    how += cudnn_text(*restored[card, cuda], cuda)
                cells.append(how)
            yield f"| {card} | {target} | " + " | ".join(cells) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("--targets", default="", help="only these, such as sm_75,sm_120")
    parser.add_argument("--check", help="a file whose rows must be these")
    options = parser.parse_args()
    gpus = Gpus(os.path.abspath(options.build), [t for t in options.targets.split(",") if t])
    rows = list(gpus.rows())
    if not rows:
        sys.exit("gpus.py: no such target")
    if not options.check:
        names = [f"{driver} (CUDA {version(cuda)})" for driver, cuda in DRIVERS.items()]
        print("| card | target | " + " | ".join(names) + " |")
        print("|" + "---|" * (len(names) + 2))
        print("\n".join(rows))
        return
    with open(options.check, encoding="utf-8") as file:
        present = set(file.read().splitlines())
    missing = [row for row in rows if row not in present]
    if missing:
        sys.exit(f"gpus.py: {options.check} is not what comes out now; write its table again:\n" + "\n".join(missing))
    print(f"{len(rows)} rows are as they come out now")


if __name__ == "__main__":
    main()
