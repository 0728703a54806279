"""Gives broken PyTorch archives to gc-import; each must end by a documented exit code, with a reason and in time.

    mutate_archives.py BIN INPUTS [--count=N] [--seed=S] [--only=I] [--keep=DIR]

BIN is the folder of the tools, INPUTS test/tools/Inputs. Case I of a seed is always the same archive. Where one is
imported all the same, what was written must be a model that gc-opt reads; where it is refused, nothing may be there.
"""
import argparse
import json
import os
import random
import sys
import tempfile
import zipfile

import bounded

NUMBERS = [0, 1, -1, 2, 3, 7, 8, 64, 127, 4096, 2**31 - 1, 2**31, 2**32, 2**53 + 1, 2**62, 2**63 - 1, -2**63, 2**64 - 1,
           0.5, -0.0, 1e400, "Infinity", "NaN", None, True, "", "x", [], {}, [1], {"as_int": 3}]
TARGETS = ["relu_.default", "relu.default", "add_.Tensor", "add.Tensor", "mul.Tensor", "sub.Tensor", "div.Tensor", "matmul.default",
           "bmm.default", "linear.default", "conv2d.default", "conv1d.default", "conv_transpose2d.input", "batch_norm.default",
           "layer_norm.default", "group_norm.default", "max_pool2d.default", "avg_pool2d.default", "adaptive_avg_pool2d.default",
           "view.default", "reshape.default", "flatten.using_ints", "unflatten.int", "permute.default", "transpose.int",
           "slice.Tensor", "select.int", "split.Tensor", "chunk.default", "unbind.int", "expand.default", "cat.default",
           "stack.default", "roll.default", "pad.default", "softmax.int", "log_softmax.int", "embedding.default", "index.Tensor",
           "gather.default", "mean.dim", "sum.dim_IntList", "var.correction", "dropout.default", "bernoulli_.float",
           "scaled_dot_product_attention.default", "cross_entropy_loss.default", "arange.default", "full.default", "zeros.default",
           "where.self", "masked_fill.Scalar", "cumsum.default", "clamp.default", "pow.Tensor_Scalar", "einsum.default",
           "upsample_nearest2d.vec", "upsample_bilinear2d.vec", "pixel_shuffle.default", "repeat.default", "flip.default",
           "squeeze.dim", "unsqueeze.default", "contiguous.default", "copy_.default", "fill_.Scalar", "zero_.default", "unknown.op"]
NAMES = ["self", "input", "weight", "bias", "other", "dim", "dims", "size", "shape", "start", "end", "step", "padding", "stride",
         "dilation", "groups", "kernel_size", "eps", "alpha", "index", "indices", "tensors", "normalized_shape", "p", "train"]


def spots(value, path=()):
    """The way to every part of a JSON value."""
    yield path
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield from spots(child, path + (key,))


def change_json(draw, text):
    """One part of a table: a number, a name, a kind, a list, or gone."""
    root = json.loads(text)
    graph = root.get("graph_module", {}).get("graph", {}) if isinstance(root, dict) else {}
    kind = draw.randrange(8)
    if kind == 0 and graph.get("nodes"):
        draw.choice(graph["nodes"])["target"] = "torch.ops.aten." + draw.choice(TARGETS)
    elif kind == 1 and graph.get("nodes"):
        node = draw.choice(graph["nodes"])
        if node["inputs"]:
            draw.choice(node["inputs"])["name"] = draw.choice(NAMES)
    elif kind == 2 and graph.get("nodes"):
        nodes = graph["nodes"]
        a, b = draw.randrange(len(nodes)), draw.randrange(len(nodes))
        if draw.random() < 0.5:
            nodes[a], nodes[b] = nodes[b], nodes[a]
        else:
            nodes.insert(a, json.loads(json.dumps(nodes[b])))
    elif kind == 3 and graph.get("tensor_values"):
        meta = draw.choice(list(graph["tensor_values"].values()))
        sizes = draw.choice([meta["sizes"], meta["strides"]])
        if sizes:
            sizes[draw.randrange(len(sizes))] = {"as_int": draw.choice([n for n in NUMBERS if isinstance(n, int)])}
        meta["dtype"] = draw.choice([meta["dtype"], 5, 7, 12, 13, 9, 99])
    else:
        path = draw.choice(list(spots(root))[1:] or [()])
        holder = root
        for key in path[:-1]:
            holder = holder[key]
        if path and draw.random() < 0.2:
            del holder[path[-1]]
        elif path:
            holder[path[-1]] = draw.choice(NUMBERS)
    return json.dumps(root).encode()


def mutated(draw, source, path):
    """Writes a broken copy of an archive."""
    with zipfile.ZipFile(source) as archive:
        entries = [(info.filename, archive.read(info)) for info in archive.infolist()]
    for _ in range(draw.choice([1, 1, 1, 2, 3])):
        kind = draw.randrange(10)
        at = draw.randrange(len(entries))
        name, data = entries[at]
        if kind < 6:
            tables = [i for i, (n, _) in enumerate(entries) if n.endswith(".json")]
            if tables:
                at = draw.choice(tables + [i for i in tables if entries[i][0].endswith("model.json")] * 4)
                try:
                    entries[at] = (entries[at][0], change_json(draw, entries[at][1]))
                except (ValueError, IndexError, KeyError, TypeError, AttributeError):
                    pass  # a part that an earlier change has broken
        elif kind == 6:
            entries[at] = (draw.choice([name + "x", "../" + name, "/" + name, name.replace("/", "\\"), name.upper(), "net/"]), data)
        elif kind == 7:
            del entries[at]
            if not entries:
                entries = [("net/x", b"")]
        elif kind == 8 and data:
            cut = draw.randrange(len(data))
            entries[at] = (name, draw.choice([data[:cut], data + data, data[:cut] + bytes([draw.randrange(256)]) + data[cut + 1:]]))
        elif kind == 9:
            entries.insert(at, draw.choice(entries))
    method = draw.choice([zipfile.ZIP_STORED] * 4 + [zipfile.ZIP_DEFLATED])
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, data in entries:
            archive.writestr(name, data)
    if draw.random() < 0.25:
        bytes_of = bytearray(open(path, "rb").read())
        for _ in range(draw.choice([1, 1, 4])):
            bytes_of[draw.randrange(len(bytes_of))] = draw.randrange(256)
        if draw.random() < 0.3:
            del bytes_of[draw.randrange(len(bytes_of)):]
        open(path, "wb").write(bytes_of)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin")
    parser.add_argument("inputs")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int)
    parser.add_argument("--keep")
    args = parser.parse_args()
    sys.path.insert(0, os.path.join(args.inputs, "import"))
    import warnings

    import networks
    warnings.filterwarnings("ignore")  # of names that are there twice
    tally = bounded.Tally()
    with tempfile.TemporaryDirectory() as folder:
        sources = []
        for name, network in networks.NETWORKS.items():
            sources.append(os.path.join(folder, name + ".pt2"))
            network().p.write(sources[-1])
        out = os.path.join(folder, "out")
        for case in range(args.count) if args.only is None else [args.only]:
            draw = random.Random(f"{args.seed}:{case}")
            path = os.path.join(folder, "case.pt2")
            mutated(draw, draw.choice(sources), path)
            os.makedirs(out, exist_ok=True)
            for left in os.listdir(out):
                os.remove(os.path.join(out, left))
            options = draw.choice([[], [], ["--list"], ["--classes=7"], ["--batch=5"], ["--loss=none"]])
            files = [] if "--list" in options else ["-o", os.path.join(out, "m.mlir"),
                                                    "--weights=" + os.path.join(out, "w.safetensors")]
            outcome = bounded.run([os.path.join(args.bin, "gc-import"), path, *options, *files])
            complaint = None
            if outcome.code not in (0, 2):
                complaint = f"ended with {outcome.code}"
            elif outcome.code == 2 and os.listdir(out):
                complaint = "is refused, and yet something is written"
            elif outcome.code == 0 and files:
                read = bounded.run([os.path.join(args.bin, "gc-opt"), os.path.join(out, "m.mlir"), "--gc-check-model"])
                if read.code != 0:
                    complaint = "is imported as a model that gc-opt refuses: " + read.errors[:300]
            tally.add(outcome, f"case {case} of seed {args.seed}", complaint)
            if complaint or outcome.complaint:
                if args.keep:
                    os.makedirs(args.keep, exist_ok=True)
                    os.replace(path, os.path.join(args.keep, f"{args.seed}-{case}.pt2"))
    print(f"{args.count} archives: " + ", ".join(f"{count} ended with {code}" for code, count in sorted(tally.codes.items(), key=str)))
    return 1 if tally.complaints else 0


if __name__ == "__main__":
    sys.exit(main())
