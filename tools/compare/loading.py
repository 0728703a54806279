"""How long a ResNet-18 step waits for JPEGs: a folder of made-up photographs, decoded on the loader's threads.

    python loading.py                          # 1, 2 and 4 workers, as a table
    python loading.py --require                # exit 1 where 4 workers wait for 3 % or more and the report names no number of cores

Photographs of 500 x 375 pixels (the usual size in ImageNet) are written with Pillow: noise of several scales, so that they take about as many bytes
as real ones, 90 KB. Training takes random crops and flips. `wait` is the share of the steps' time that they waited; `cores` is the CPU time of reading
over the rest of the steps' time: as many cores reading needs beside the step's own threads so that nothing waits.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path

import numpy
from PIL import Image

import gc_tools

WIDTH, HEIGHT, CLASSES = 500, 375, 10
MOST = 0.03


def photograph(generator):
    """Smooth shapes, texture and grain."""
    image = numpy.zeros((HEIGHT, WIDTH, 3))
    for size, strength in ((4, 80), (16, 40), (64, 25), (200, 18), (500, 22)):
        small = Image.fromarray(generator.integers(0, 255, (size * 3 // 4, size, 3), dtype=numpy.uint8))
        image += strength / 128 * (numpy.asarray(small.resize((WIDTH, HEIGHT), Image.BICUBIC), dtype=float) - 128)
    return Image.fromarray(numpy.clip(image + 128, 0, 255).astype(numpy.uint8))


def write_photographs(folder, count):
    generator = numpy.random.default_rng(1)
    for i in range(count):
        path = folder / f"class{i % CLASSES}" / f"{i}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        photograph(generator).save(path, quality=90)
    return sum(path.stat().st_size for path in folder.rglob("*.jpg")) / count


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    gc_tools.add_build_option(parser)
    parser.add_argument("--workers", default="1,2,4")
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--photographs", type=int, default=320)
    parser.add_argument("--require", action="store_true")
    args = parser.parse_args()
    failed = False
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        size = write_photographs(folder / "photos", args.photographs)
        model = gc_tools.generate(args.build, ["resnet", "--depth=18", f"--batch={args.batch}", f"--classes={CLASSES}"], folder / "model.mlir")
        plan = folder / "plan"
        gc_tools.call([gc_tools.tool(args.build, "gc-compile"), str(model), "-o", str(plan)], stdout=open(os.devnull, "w"))
        print(f"{args.photographs} photographs of {size / 1000:.0f} KB; {os.cpu_count()} cores, load average {os.getloadavg()[0]:.1f}")
        print("| workers | step, ms | wait | CPU time of a photograph, ms | cores |")
        print("|---|---|---|---|---|")
        for workers in args.workers.split(","):
            report = gc_tools.run(args.build, plan, [f"--data=images:{folder / 'photos'}", "--augment=random-resized-crop,flip", "--shuffle",
                                                     f"--workers={workers}", f"--steps={args.steps}"], folder / "report.json")
            loading = report["loading"]
            each = loading["read_cpu_seconds"] / (args.steps * args.batch)
            print(f"| {workers} | {1000 * report['step_seconds']['median']:.0f} | {loading['wait_share']:.2%} | {1000 * each:.2f} | "
                  f"{loading['cores_needed']:.2f} |", flush=True)
            failed |= workers == "4" and loading["wait_share"] >= MOST and not loading["cores_needed"] > 0
    return 1 if args.require and failed else 0


if __name__ == "__main__":
    sys.exit(main())
