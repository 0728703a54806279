"""Exports, imports and checks many models: python table.py [MODEL...] [-o table.md]

A row a model: how many ops PyTorch's exporter makes of it, whether gc-import knows all of them, how far loss and
gradients are from PyTorch in float64 in units of PyTorch's own float32 error, and the peak of a step with and
without a budget of half of it. --list names the models. Exit code 1 where a model imports and does not agree.

With --work=FOLDER archives, checks and rows are kept there: a run goes on where the one before has ended, and what
gc-import has learned since is seen without exporting anything again (--again computes all rows anew).
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BATCH = 32
COLUMNS = ("model", "batch", "ops", "imported", "loss off", "gradients off", "worst gradient", "peak", "half",
           "slower")


def tool(build, name, *arguments, limit=1800):
    return subprocess.run([str(build / "bin" / name), *map(str, arguments)], capture_output=True, text=True,
                          timeout=limit, env={**os.environ, "GC_NO_CALIBRATE": "1"})


def first_line(text):
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[0].split(": ", 1)[-1] if lines else ""


def reason(text):
    """Why a model is not imported, in one cell: the kinds of ops."""
    ops = re.findall(r"^  (\S+), (\d+) uses?, [^:\n]*(?:: (.*))?$", text, re.M)
    if not ops:
        return first_line(text)[:160]
    return "; ".join(f"{op.removeprefix('aten.')} × {count}" + (f" ({why})" if why else "") for op, count, why in ops)[:300]


def megabytes(count):
    return f"{count / 1e6:.1f} MB"


def measure(name, build, folder, threads, budgets):
    """The row of one model, as a dictionary."""
    import torch

    import export
    import models
    warnings.filterwarnings("ignore")
    torch.set_num_threads(threads)
    torch.manual_seed(0)
    make, shape, tokens = models.MODELS[name]
    row = {"model": name, "batch": "×".join(map(str, shape))}
    exported = folder / "exported.json"  # written last
    try:
        if not exported.exists():
            model = make()
            inputs, labels = export.example(model, shape, tokens)
            program = export.export(model, inputs, folder / "model.pt2", labels)
            ops = sum(node.op == "call_function" for node in program.graph.nodes)
            errors = export.write_check(model, inputs, labels, folder / "check.safetensors")
            exported.write_text(json.dumps({"ops": ops, "loss": errors["loss"]}))
    except Exception as problem:  # of PyTorch, on the way to an archive
        row["imported"] = f"not exported: {type(problem).__name__}: {first_line(str(problem))[:120]}"
        return row
    known = json.loads(exported.read_text())
    row["ops"] = known["ops"]
    imported = tool(build, "gc-import", folder / "model.pt2", "-o", folder / "model.mlir",
                    f"--weights={folder / 'weights.safetensors'}")
    if imported.returncode != 0:
        row["imported"] = "no: " + reason(imported.stderr)
        return row
    compared = tool(build, "gc-run", folder / "model.mlir", f"--load={folder / 'weights.safetensors'}",
                    f"--reference={folder / 'check.safetensors'}", f"--threads={threads}")
    row["agrees"] = compared.returncode == 0
    row["imported"] = "yes" if row["agrees"] else "yes, differs: " + first_line(compared.stderr)[:160]
    values = re.search(r"^loss +(\S+), .* is (\S+)$", compared.stdout, re.M)
    if values:
        off = abs(float(values[1]) - float(values[2])) / max(abs(float(values[2])), 1e-30)
        row["loss off"] = f"{off:.0e} ({off / max(known['loss'], 1e-7):.1f}×)"
    gradients = re.search(r"^gradients +\d+ +(\S+) +(\S+) +(\S+) +(\S+)$", compared.stdout, re.M)
    if gradients:
        row["gradients off"] = f"{gradients[1]} ({float(gradients[1]) / float(gradients[2]):.1f}×)"
        row["worst gradient"] = gradients[3] + (" (ties)" if "\nties " in compared.stdout else "")
    if not budgets:
        return row
    # Weights are most of the memory of two samples; a budget is asked for where activations are.
    report, large = folder / "report.json", folder / "large.mlir"
    batch = BATCH
    if tool(build, "gc-import", folder / "model.pt2", f"--batch={batch}", "-o", large).returncode != 0:
        batch, large = shape[0], folder / "model.mlir"
    whole = tool(build, "gc-compile", large, f"--report={report}", f"--threads={threads}", "-o",
                 folder / "model.plan")
    if whole.returncode != 0:
        row["peak"] = first_line(whole.stderr)[:80]
        return row
    peak = json.loads(report.read_text())["memory"]["predicted_peak_bytes"]
    row["peak"] = f"{megabytes(peak)} at {batch}"
    half = tool(build, "gc-compile", large, f"--report={report}", f"--threads={threads}",
                f"--budget={peak // 2}", "-o", folder / "model.plan")
    if half.returncode == 0:
        told = json.loads(report.read_text())
        row["half"] = megabytes(told["memory"]["predicted_peak_bytes"])
        row["slower"] = f"{100 * told['remat'].get('recompute_fraction', 0):+.1f} %"
    else:
        least = re.search(r"needs at least (\d+) bytes", half.stderr)
        row["half"] = f"no: {megabytes(int(least[1]))} at least" if least else first_line(half.stderr)[:80]
    return row


def one_row(name, args):
    """In a process of its own, with an end."""
    command = [sys.executable, __file__, "--row", name, "--build", str(args.build), "--threads", str(args.threads)]
    command += ["--no-budgets"] * args.no_budgets + (["--work", str(args.work)] if args.work else [])
    started = time.time()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=args.limit)
        found = re.search(r"^ROW (.*)$", done.stdout, re.M)
        row = json.loads(found[1]) if found else {"model": name, "imported": "no: " + first_line(done.stderr[-200:])}
    except subprocess.TimeoutExpired:
        row = {"model": name, "imported": f"not measured: more than {args.limit} s"}
    return {**row, "seconds": time.time() - started}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", metavar="MODEL", help="default: all")
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="where gc is built (default: build)")
    parser.add_argument("-o", "--output", type=Path, help="also write the table there, row by row")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--no-budgets", action="store_true", help="leave out the peaks")
    parser.add_argument("--limit", type=int, default=900, help="seconds for a model (default: 900)")
    parser.add_argument("--work", type=Path, metavar="FOLDER", help="keep archives and rows there, and go on from them")
    parser.add_argument("--again", action="store_true", help="of --work only the archives")
    parser.add_argument("--list", action="store_true", help="name the models")
    parser.add_argument("--row", help=argparse.SUPPRESS)  # one model, in a process of its own
    args = parser.parse_args()
    if args.row:
        with tempfile.TemporaryDirectory() as scratch:
            folder = args.work / args.row if args.work else Path(scratch)
            folder.mkdir(parents=True, exist_ok=True)
            print("ROW " + json.dumps(measure(args.row, args.build, folder, args.threads, not args.no_budgets)))
        return 0
    import models
    unknown = set(args.models) - set(models.MODELS)
    if unknown:
        parser.error(f"unknown model {', '.join(sorted(unknown))}; --list names them")
    if args.list:
        print("\n".join(models.MODELS))
        return 0
    lines = ["| " + " | ".join(COLUMNS) + " |", "|" + "---|" * len(COLUMNS)]
    print("\n".join(lines))
    rows = []
    for name in args.models or models.MODELS:
        kept = args.work / name / "row.json" if args.work else None
        if kept and kept.exists() and not args.again:
            row = json.loads(kept.read_text())
        else:
            row = one_row(name, args)
            if kept:
                kept.parent.mkdir(parents=True, exist_ok=True)
                kept.write_text(json.dumps(row))
        rows.append(row)
        lines.append("| " + " | ".join(str(row.get(column, "")) for column in COLUMNS) + " |")
        print(lines[-1], flush=True)
        if args.output:
            args.output.write_text("\n".join(lines) + "\n")
    imported = [row for row in rows if "agrees" in row]
    agreed = [row for row in imported if row["agrees"]]
    print(f"{len(rows)} models, {len(imported)} imported, {len(agreed)} of these agree")
    return 0 if len(agreed) == len(imported) else 1


if __name__ == "__main__":
    sys.exit(main())
