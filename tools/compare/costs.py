#!/usr/bin/env python3
"""Predicted against measured seconds, by kind of op.

    tools/compare/costs.py                       # this machine's rates, as gc-compile measures and keeps them
    tools/compare/costs.py --built-in            # those that are built into the compiler
    tools/compare/costs.py --costs=machine.json  # what gc-run --calibrate measured here

Each network is compiled and run with --profile, --rounds times in turn; an op's seconds are the
median over the rounds. Needs nothing but the tools.
"""

import argparse
import json
import statistics
import subprocess
import tempfile
from collections import defaultdict
from pathlib import Path

from gc_tools import add_build_option, call, generate, tool

NETWORKS = {
    "resnet-50": ["resnet", "--depth=50", "--batch=16"],
    "vit-small": ["vit", "--size=small", "--batch=16"],
    "mnist-224": ["mnist", "--image=224", "--batch=128"],
    "cnn11": ["cnn11"],
}
KINDS = {
    "convolution": ["conv2d"],
    "its data gradient": ["conv2d_grad_input"],
    "its weight gradient": ["conv2d_grad_filter"],
    "matrix products": ["linear", "linear_grad_input", "linear_grad_weight", "matmul"],
    "attention": ["attention", "attention_grad"],
    "fused and pointwise": ["fused", "relu", "relu_grad", "add", "bias", "normalize", "gelu", "gelu_grad",
                            "batch_norm_grad_input"],
    "updates": ["sgd", "adam", "adamw", "accumulate", "clear"],
}
KIND_OF = {op: kind for kind, ops in KINDS.items() for op in ops}


def profile(build, plan, options, path):
    call([tool(build, "gc-run"), str(plan), "--data=synthetic", "--workers=0", f"--steps={options.steps}",
          f"--threads={options.threads}", "--no-calibrate", f"--profile={path}"], stdout=subprocess.DEVNULL)
    return json.loads(path.read_text())["ops"]


def table(name, rounds):
    """One line a kind, the largest first."""
    kinds = defaultdict(lambda: [0.0, 0.0])
    for commands in zip(*rounds):
        kind = KIND_OF.get(commands[0]["name"].rpartition(":")[2], "everything else")
        kinds[kind][0] += commands[0]["seconds_predicted"]
        kinds[kind][1] += statistics.median(command["median_seconds"] for command in commands)
    total = [sum(seconds[i] for seconds in kinds.values()) for i in (0, 1)]
    print(f"{name:<24} predicted {total[0] * 1e3:9.1f} ms, measured {total[1] * 1e3:9.1f} ms,"
          f" {100 * (total[0] / total[1] - 1):+6.1f} %")
    for kind, (predicted, measured) in sorted(kinds.items(), key=lambda item: -item[1][1]):
        print(f"  {kind:<22} predicted {predicted * 1e3:9.2f} ms, measured {measured * 1e3:9.2f} ms,"
              f" {100 * (predicted / measured - 1):+6.1f} %, {100 * measured / total[1]:4.1f} % of the step")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_build_option(parser)
    parser.add_argument("--costs", help="a calibration; without it this machine's rates")
    parser.add_argument("--built-in", action="store_true", help="the compiler's own rates")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=4, help="in a round (default: %(default)s)")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("networks", nargs="*", help=f"of {', '.join(NETWORKS)} (default: all)")
    options = parser.parse_args()
    if unknown := set(options.networks) - set(NETWORKS):
        parser.error(f"unknown network {', '.join(unknown)}: expected {', '.join(NETWORKS)}")
    print("load average", Path("/proc/loadavg").read_text().split()[0])
    with tempfile.TemporaryDirectory() as scratch:
        plans, rounds = {}, defaultdict(list)
        for name in options.networks or NETWORKS:
            model = generate(options.build, NETWORKS[name], Path(scratch) / f"{name}.mlir")
            plans[name] = Path(scratch) / f"{name}.plan"
            call([tool(options.build, "gc-compile"), str(model), "-o", str(plans[name]), f"--threads={options.threads}",
                  f"--report={Path(scratch) / 'compile.json'}", *(["--no-calibrate"] if options.built_in else []),
                  *([f"--costs={options.costs}"] if options.costs else [])], stdout=subprocess.DEVNULL)
        for _ in range(options.rounds):
            for name, plan in plans.items():
                rounds[name].append(profile(options.build, plan, options, Path(scratch) / "profile.json"))
        for name in plans:
            table(name, rounds[name])


if __name__ == "__main__":
    main()
