#!/usr/bin/env python3
"""scaling.py [--layers=6,24,96,384,1000] [--rounds=3] [--build=DIR] [--plot=FILE.svg]

How compile time grows with a network: transformer encoders of more and more equal layers, compiled without a budget and
with one of half the peak, in turn. Prints a table (medians; memory is the compiler's own, at its largest) and draws both
times. Built-in rates are used, so that the plans are the same everywhere.
"""
import argparse
import json
import math
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time


def fail(text):
    sys.exit(f"scaling.py: {text}")


def processor():
    try:
        with open("/proc/cpuinfo") as file:
            return next(line.split(":")[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.machine()


class Compiler:
    def __init__(self, build, folder):
        self.bin, self.folder = os.path.join(build, "bin"), folder

    def model(self, layers):
        path = os.path.join(self.folder, f"encoder{layers}.mlir")
        made = subprocess.run([os.path.join(self.bin, "gc-gen"), "encoder", f"--layers={layers}", "--width=128", "--heads=4",
                               "--ffn=512", "--sequence=64", "--batch=8", "-o", path], capture_output=True, text=True)
        if made.returncode != 0:
            fail(made.stderr)
        return path

    def compile(self, model, *flags):
        """Seconds, MiB and the report of one compilation."""
        report = os.path.join(self.folder, "report.json")
        command = [os.path.join(self.bin, "gc-compile"), model, "-o", os.path.join(self.folder, "plan"), f"--report={report}",
                   "--no-calibrate", *flags]
        start = time.monotonic()
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
            errors = process.stderr.read()
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.monotonic() - start
        if process.returncode != 0:
            fail(f"{' '.join(command)}: {errors}")
        with open(report) as file:
            return seconds, usage.ru_maxrss / 1024, json.load(file)


def measure(compiler, layers, rounds):
    model = compiler.model(layers)
    report = compiler.compile(model)[2]
    budget = report["memory"]["arena_bytes"] // 2
    runs = {"plain": [], "half": []}
    for _ in range(rounds):
        runs["plain"].append(compiler.compile(model))
        runs["half"].append(compiler.compile(model, f"--budget={budget}"))
    row = {"layers": layers, "commands": sum(report["commands"].values())}
    for kind, results in runs.items():
        row[kind] = statistics.median(result[0] for result in results)
        row[kind + " MiB"] = max(result[1] for result in results)
    row["recompute"] = runs["half"][0][2]["remat"]
    return row


def table(rows):
    lines = ["| layers | commands | without a budget | | half the peak | | recomputes |", "|---|---|---|---|---|---|---|"]
    for row in rows:
        recompute = row["recompute"]
        lines.append(f"| {row['layers']:,} | {row['commands']:,} | {row['plain']:.2f} s | {row['plain MiB']:.0f} MiB | {row['half']:.2f} s "
                     f"| {row['half MiB']:.0f} MiB | +{100 * recompute['recompute_fraction']:.1f} %, "
                     f"proven +{100 * (recompute['recompute_fraction'] - recompute['gap']):.1f} % |")
    return "\n".join(lines)


def picture(rows):
    """Both times over the layers, on logarithmic axes, with a line of linear growth."""
    width, height, left, bottom, top, right = 640, 400, 60, 50, 20, 20
    xs = [row["layers"] for row in rows]
    ys = [row[kind] for row in rows for kind in ("plain", "half")]
    low_x, high_x = math.log10(min(xs)), math.log10(max(xs))
    low_y, high_y = math.floor(math.log10(min(ys))), math.ceil(math.log10(max(ys)))
    x_of = lambda value: left + (math.log10(value) - low_x) / max(1e-9, high_x - low_x) * (width - left - right)
    y_of = lambda value: height - bottom - (math.log10(value) - low_y) / max(1, high_y - low_y) * (height - bottom - top)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="13">',
           f'<rect width="{width}" height="{height}" fill="white"/>']
    for power in range(low_y, high_y + 1):
        y = y_of(10**power)
        out.append(f'<line x1="{left}" y1="{y:.1f}" x2="{width - right}" y2="{y:.1f}" stroke="#ddd"/>'
                   f'<text x="{left - 6}" y="{y + 4:.1f}" text-anchor="end">{10.0**power:g} s</text>')
    for value in xs:
        x = x_of(value)
        out.append(f'<line x1="{x:.1f}" y1="{top}" x2="{x:.1f}" y2="{height - bottom}" stroke="#eee"/>'
                   f'<text x="{x:.1f}" y="{height - bottom + 18}" text-anchor="middle">{value:,}</text>')
    out.append(f'<text x="{(left + width - right) / 2}" y="{height - 10}" text-anchor="middle">encoder layers</text>')
    for kind, colour, label in (("half", "#c0392b", "half the peak"), ("plain", "#2471a3", "without a budget")):
        points = " ".join(f"{x_of(row['layers']):.1f},{y_of(row[kind]):.1f}" for row in rows)
        last = rows[-1]
        out.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>'
                   f'<text x="{x_of(last["layers"]) - 8:.1f}" y="{y_of(last[kind]) - 8:.1f}" text-anchor="end" fill="{colour}">{label}</text>')
    first, last = rows[0], rows[-1]
    end = last["plain"]
    start = end * first["layers"] / last["layers"]
    if start < 10**low_y:  # the line begins where it enters the picture
        start = 10**low_y
    out.append(f'<line x1="{x_of(last["layers"] * start / end):.1f}" y1="{y_of(start):.1f}" x2="{x_of(last["layers"]):.1f}" y2="{y_of(end):.1f}" '
               'stroke="#888" stroke-dasharray="4 4"/>'
               f'<text x="{x_of(last["layers"] * start / end) + 8:.1f}" y="{y_of(start) - 4:.1f}" fill="#888">linear</text>')
    return "\n".join(out + ["</svg>", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--layers", default="6,24,96,384,1000")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--build", default="build")
    parser.add_argument("--plot")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        compiler = Compiler(given.build, folder)
        rows = [measure(compiler, int(layers), given.rounds) for layers in given.layers.split(",")]
    print(f"{processor()}, {os.cpu_count()} cores, medians of {given.rounds}\n\n{table(rows)}")
    if given.plot:
        with open(given.plot, "w") as file:
            file.write(picture(rows))


if __name__ == "__main__":
    main()
