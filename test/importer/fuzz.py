"""fuzz.py GC_IMPORT [--seconds=N] [--seed=N]: gc-import on archives that were changed at random.

Whatever it is given, it ends with 0 or 2 within seconds and in little memory, writes nothing where it ends with 2,
and says why. What does otherwise is kept in the folder of --keep. The archives are those of test/tools, whose JSON
is changed as JSON (numbers that lie, names and ops exchanged, parts lost or twice), or whose bytes are.
"""

import argparse
import copy
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../tools/Inputs/import"))
import networks  # noqa: E402
import pt2  # noqa: E402

SECONDS, MEMORY = 60, 4 << 30
NUMBERS = [0, 1, -1, 2, 3, 7, 64, 1000, 2**31 - 1, 2**31, 2**40, 2**62, 2**63 - 1, -2**63, 2**70, 0.5, 1e-300, 1e308]
TEXTS = ["", "x", "../x", "L__self__", "\u0000", "aten", "torch.ops.aten.", "a" * 5000]


def known_ops(tool):
    """Targets that converters know, by the page that lists them: any of them may stand anywhere."""
    page = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/import.md")
    with open(page, encoding="utf-8") as file:
        names = [part for part in file.read().split("## Ops")[1].split("`") if part.replace("_", "").isalnum()]
    overloads = ["default", "Tensor", "Scalar", "int", "dim", "dim_IntList", "using_ints", "self", "memory_format"]
    return [f"torch.ops.aten.{name}.{overload}" for name in names for overload in overloads]


def places(value, path=()):
    """Every part of a JSON value, by its path."""
    yield path
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield from places(child, path + (key,))


def change(rng, root, ops):
    """One change at a random place."""
    kind = rng.random()
    nodes = root.get("graph_module", {}).get("graph", {}).get("nodes", []) if isinstance(root, dict) else []
    if nodes and kind < 0.35:
        rng.choice(nodes)["target"] = rng.choice(ops)
        return
    where = rng.choice(list(places(root))[1:] or [()])
    if not where:
        return
    parent = root
    for key in where[:-1]:
        parent = parent[key]
    key, old = where[-1], parent[where[-1]]
    if kind < 0.45:
        del parent[key]
    elif kind < 0.55 and isinstance(parent, list):
        parent.insert(rng.randrange(len(parent) + 1), copy.deepcopy(rng.choice(parent)))
    elif isinstance(old, bool):
        parent[key] = not old
    elif isinstance(old, (int, float)):
        parent[key] = rng.choice(NUMBERS + [old + 1, -old, old * 2])
    elif isinstance(old, str):
        others = [p for p in (parent.values() if isinstance(parent, dict) else parent) if isinstance(p, str)]
        names = list(root["graph_module"]["graph"]["tensor_values"]) if "graph_module" in root else []
        parent[key] = rng.choice(TEXTS + others + names)
    else:
        parent[key] = rng.choice([None, [], {}, 1, "x", [old], {"as_int": 3}, {"as_none": True}])


def changed(rng, entries, ops):
    """Some of the entries otherwise."""
    entries = dict(entries)
    for _ in range(rng.choice([1, 1, 1, 2, 3, 8])):
        tables = [name for name in entries if name.endswith(".json")]
        name = "models/model.json" if rng.random() < 0.8 and "models/model.json" in entries else rng.choice(list(entries))
        if name in tables and rng.random() < 0.95:
            try:
                table = json.loads(entries[name])
                change(rng, table, ops)
                entries[name] = json.dumps(table).encode()
                continue
            except (ValueError, LookupError, TypeError, AttributeError):
                pass
        data = bytearray(entries[name])
        for _ in range(rng.randrange(1, 5)):
            if data:
                data[rng.randrange(len(data))] = rng.randrange(256)
        if rng.random() < 0.1:
            del entries[name]
        else:
            entries[name] = bytes(data[:rng.randrange(len(data) + 1)] if rng.random() < 0.1 else data)
    return entries


def limits():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def fault(tool, path, folder):
    """What gc-import does wrong with an archive; empty where it does nothing wrong. And its exit code."""
    output, weights = os.path.join(folder, "out.mlir"), os.path.join(folder, "out.safetensors")
    try:
        done = subprocess.run([tool, path, "-o", output, f"--weights={weights}"], capture_output=True,
                              timeout=SECONDS, preexec_fn=limits)
    except subprocess.TimeoutExpired:
        return f"took more than {SECONDS} s", None
    said = done.stderr.decode(errors="replace")
    left = [name for name in (output, weights) if os.path.exists(name)]
    for name in left:
        os.remove(name)
    if done.returncode not in (0, 2):
        return f"ended with {done.returncode}: {said[:300]}", done.returncode
    if done.returncode == 2 and (left or not said.startswith("gc-import: ")):
        return f"left {left} behind, or said {said[:300]!r}", 2
    return "", done.returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tool", metavar="GC_IMPORT")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", help="a folder for archives that are handled wrongly")
    args = parser.parse_args()
    rng, ops = random.Random(args.seed), known_ops(args.tool)
    whole = [network().p.entries() for network in networks.NETWORKS.values()]
    end, counts, faults = time.monotonic() + args.seconds, {0: 0, 2: 0}, {}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "net.pt2")
        while time.monotonic() < end:
            pt2.write_entries(path, changed(rng, rng.choice(whole), ops))
            if rng.random() < 0.05:
                with open(path, "r+b") as file:
                    size = os.path.getsize(path)
                    file.seek(rng.randrange(size))
                    file.write(bytes([rng.randrange(256)]))
            wrong, code = fault(args.tool, path, folder)
            counts[code] = counts.get(code, 0) + 1
            if not wrong or wrong in faults:
                continue
            faults[wrong] = len(faults)
            print(f"input {sum(counts.values())}: {wrong}", flush=True)
            if args.keep:
                os.makedirs(args.keep, exist_ok=True)
                os.replace(path, os.path.join(args.keep, f"{faults[wrong]}.pt2"))
    print(f"{sum(counts.values())} archives: {counts[0]} imported, {counts[2]} refused, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
