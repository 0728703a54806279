#!/usr/bin/env python3
"""Predicted steps, commands and bytes of networks on GPUs that are not there, of this build and another one's programs.

    tools/compare/cuda_steps.py                                   # this build
    tools/compare/cuda_steps.py --against=../before/build/bin     # and another one's beside it
    tools/compare/cuda_steps.py --libraries=auto,none,cudnn       # ways to choose between cuDNN and generated kernels
    tools/compare/cuda_steps.py --parts                           # each thing that makes a step faster, left out in turn

Writes a table in markdown. gc-compile looks for cuDNN's compile-only driver in ../lib/gc beside its folder: where the other
build's folder has none, its rows with a library fail instead of comparing something else. Needs nothing but the tools.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from gc_tools import add_build_option, call, generate

NETWORKS = {
    "ResNet-50, batch 32": ["resnet", "--depth=50", "--batch=32"],
    "ViT-S, batch 32": ["vit", "--size=small", "--batch=32"],
    "mnist, batch 64": ["mnist", "--batch=64"],
}


def compiled(programs, model, target, library, report, flags=()):
    """What gc-compile reports of a plan."""
    call([str(programs / "gc-compile"), str(model), "--device=cuda", f"--target={target}", f"--cuda-library={library}",
          f"--report={report}", *flags], stdout=subprocess.DEVNULL)
    whole = json.loads(Path(report).read_text())
    if library != "none" and not whole["compiler"]["cuda"]["library"]:
        sys.exit(f"{programs}/gc-compile finds no cuDNN: {whole['compiler']['cuda']['no_library_because']}")
    return whole


def row(report):
    """Milliseconds, commands of a step, graphs of cuDNN, MiB of workspace at the peak and of the peak."""
    compiler, memory = report["compiler"], report["memory"]
    return [f"{1e3 * compiler['step_seconds_predicted']:.2f}", str(compiler["commands"]),
            str(compiler["cuda"]["library_graphs"]), f"{memory['workspace_bytes'] / 2**20:.1f}",
            f"{memory['predicted_peak_bytes'] / 2**20:.1f}"]


def print_parts(options, scratch):
    """Predicted steps by one formula: as it is by default, with each part left out, and with TF32."""
    report = Path(scratch) / "report.json"
    programs = options.build / "bin"
    print("| network | target | step (ms) | cuDNN wherever it can | nothing by cuDNN | updates apart | with TF32 |\n"
          "|---|---|---|---|---|---|---|")
    for name, arguments in NETWORKS.items():
        model = generate(options.build, arguments, Path(scratch) / "model.mlir")
        for target in options.targets.split(","):
            def step(library, *flags):
                return compiled(programs, model, target, library, report, flags)["compiler"]

            plain = step("auto")
            seconds = plain["step_seconds_predicted"]
            # There is no option for it: the report says what joining them saves.
            apart = seconds + plain["joined_updates"]["seconds_saved_predicted"]
            others = [step("cudnn")["step_seconds_predicted"], step("none")["step_seconds_predicted"], apart,
                      step("auto", "--allow-tf32")["step_seconds_predicted"]]
            print(f"| {name} | {target} | {1e3 * seconds:.2f} |",
                  " | ".join(f"{1e3 * other:.2f} ({100 * (other / seconds - 1):+.1f} %)" for other in others), "|",
                  flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_build_option(parser)
    parser.add_argument("--against", type=Path, help="folder of another build's programs")
    parser.add_argument("--targets", default="sm_86,sm_90")
    parser.add_argument("--libraries", default="auto", help="of auto, none and cudnn (default: %(default)s)")
    parser.add_argument("--parts", action="store_true", help="what each part of the choice is worth by one formula")
    options = parser.parse_args()
    if options.parts and (options.against or options.libraries != "auto"):
        parser.error("--parts compares within this build and takes no --against and no --libraries")
    builds = {"now": options.build / "bin"}
    if options.against:
        builds = {"before": options.against, **builds}
    for programs in builds.values():
        if not (programs / "gc-compile").exists():
            sys.exit(f"{programs}/gc-compile is missing: build the tools first, or name another folder")
    if options.parts:
        with tempfile.TemporaryDirectory() as scratch:
            return print_parts(options, scratch)
    print("| network | target | library | build | step (ms) | commands | cuDNN graphs | workspace at the peak (MiB)"
          " | peak (MiB) |\n|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as scratch:
        for name, arguments in NETWORKS.items():
            model = generate(options.build, arguments, Path(scratch) / "model.mlir")
            for target in options.targets.split(","):
                for library in options.libraries.split(","):
                    for build, programs in builds.items():
                        report = compiled(programs, model, target, library, Path(scratch) / "report.json")
                        print("|", " | ".join([name, target, library, build, *row(report)]), "|", flush=True)


if __name__ == "__main__":
    main()
