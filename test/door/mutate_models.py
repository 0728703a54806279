"""Gives broken models to gc-opt and gc-compile; each must end by a documented exit code, with a reason and in time.

    mutate_models.py BIN MODELS [--count=N] [--seed=S] [--only=I] [--keep=DIR]

BIN is the folder of the tools, MODELS that of the hand-written models. Case I of a seed is always the same
text; `--only=I` runs it alone and `--keep=DIR` leaves what complained there.
"""
import argparse
import os
import random
import re
import subprocess
import sys
import tempfile

import bounded

NUMBERS = ["0", "1", "-1", "2", "3", "7", "127", "128", "4096", "65536", "2147483647", "2147483648", "4294967295",
           "4294967296", "1099511627776", "4611686018427387904", "9223372036854775807", "9223372036854775808",
           "-9223372036854775808", "18446744073709551616", "?", "*", "0x7FC00000", "1.0e+400", "", "nan"]
FLOATS = ["0.0", "-1.0", "1.0", "2.0", "1.0e-30", "3.4e38", "1.0e300", "0x7FC00000", "0x7F800000", "0xFF800000",
          "0x7FF8000000000000", "-0.0"]
ELEMENTS = ["f32", "f64", "f16", "bf16", "tf32", "f8E4M3FN", "f128", "i1", "i8", "ui8", "si32", "i32", "i64", "i1024", "i0",
            "index", "none", "complex<f32>", "vector<4xf32>", "tuple<f32>", "memref<2xf32>", "tensor<2xf32>", "!gc.t",
            "!quant.any<i8>", "()", ""]
CONTAINERS = ["tensor", "memref", "vector", "tuple", "complex", "tensor<*xf32>, tensor", "!llvm.ptr", "sparse_tensor"]
ATTRIBUTES = ["dilation = array<i64: 2, 2>", "approximate = \"tanh\"", "ceil_mode = true", "groups = 2 : i64",
              "groups = 0 : i64", "axis = 7 : i64", "strides = array<i64: 0, 1>", "padding = array<i64: 99, 99>",
              "strides = array<i64: 9223372036854775807, 1>", "padding = array<i64: 4611686018427387904, 0>",
              "kernel = array<i64: 0, 0>", "epsilon = 0x7FC00000 : f32", "epsilon = -1.0 : f32", "momentum = 2.0 : f32",
              "count = 0 : i64", "activation = #gc<activation relu>", "activation = 1 : i32", "sym_name = \"\"", "gc.workspace = -1 : i64",
              "gc.workspace = 9223372036854775807 : i64", "gc.recomputed", "gc.offsets = array<i64: -1>", "gc.op = 0 : i64",
              "gc.seconds = 0x7FF8000000000000 : f64", "gc.list = \"step\"", "gc.classes = 3 : i64", "gc.input = \"\"",
              "gc.input = \"image\"", "gc.output = \"loss\"", "gc.output = \"correct\"", "gc.typo = 1 : i64", "foo.bar = 1 : i64", "foo",
              "operandSegmentSizes = array<i32: 9, 0, 0, 0>", "#gc.init<uniform, [1.0]>",
              "file_permutation = array<i64: 3, 2, 1, 0>", "heads = 0 : i64", "probability = 2.0 : f32"]
LINES = ["gc.parameter @\"\" : tensor<1xf32> = #gc.init<constant, [0.0]>",
         "gc.parameter @extra : tensor<0xf32> = #gc.init<constant, [0.0]>",
         "gc.state @generator generator : tensor<2xi64> = #gc.init<constant, [0.0]>",
         "gc.state @generator generator : tensor<3xf32> = #gc.init<uniform, [1.0, 0.0]>",
         "func.func private @other()", "func.func @other() { return }", "func.func @train() { call @train() : () -> () return }",
         "module { }", "module @inner { gc.parameter @w : tensor<1xf32> = #gc.init<constant, [0.0]> }",
         "%0 = arith.constant dense<1.0> : tensor<4xf32>", "%c = arith.constant 0 : index", "func.call @model() : () -> ()",
         "\"gc.unknown\"() : () -> ()", "\"foo.bar\"() ({ ^bb0: }) : () -> ()", "cf.br ^bb1", "^bb1:", "return", "}", "{", "gc.advance @generator",
         "gc.advance @fc.weight", "gc.clear @fc.weight : tensor<10x16xf32>", "%z = gc.gradient_seed {scale = 1.0 : f32} : () -> tensor<f32>",
         "#a = loc(\"x\")", "!t = tensor<4xf32>", "// -----", "{-# dialect_resources: { } #-}"]
OPS = ["relu", "gelu", "exp", "neg", "log", "softmax", "add", "mul", "linear", "conv2d", "matmul", "batch_norm", "layer_norm", "group_norm",
       "max_pool", "avg_pool", "global_avg_pool", "reshape", "transpose", "concat", "slice", "pad", "reduce_sum", "reduce_max",
       "cross_entropy", "accuracy", "attention", "dropout", "embedding", "patch_embed", "class_token", "bias", "broadcast", "fused",
       "sgd", "adam", "all_reduce", "read", "yield", "gradient", "relu_grad", "softmax_grad", "batch_stats", "normalize"]


def places(pattern, text):
    return [m.span() for m in re.finditer(pattern, text)]


def put(text, span, new):
    return text[:span[0]] + new + text[span[1]:]


def replace_one(pattern, choices):
    """A mutation that puts one of `choices` in the place of one match of `pattern`."""
    def mutate(draw, text):
        found = places(pattern, text)
        return put(text, draw.choice(found), draw.choice(choices)) if found else text
    return mutate


def replace_all_equal(draw, text):
    """The same number everywhere: what fits together still does."""
    found = re.findall(r"(?<=[<x])\d+(?=x)", text)
    if not found:
        return text
    old, new = draw.choice(found), draw.choice(NUMBERS)
    return re.sub(rf"(?<=[<x]){old}(?=x)", new, text)


def element_everywhere(draw, text):
    return re.sub(r"(?<=[x<])f32(?=>)", draw.choice(ELEMENTS), text)


def add_attribute(draw, text):
    attribute = draw.choice(ATTRIBUTES)
    spans = places(r"\{(?=[a-z])", text) + places(r"(?<=\) )(?=-> tensor)", text)
    spot = draw.choice(spans) if spans else (0, 0)
    return put(text, spot, "{" + attribute + ", " if spot[0] != spot[1] else "{" + attribute + "} ")


def attribute_on_bare_op(draw, text):
    spans = places(r"(?<=[a-z0-9]) : (?=\(tensor)", text)
    return put(text, draw.choice(spans), " {" + draw.choice(ATTRIBUTES) + "} : ") if spans else text


def rename_attribute(draw, text):
    spans = places(r"\b[a-z_.]+(?= = )", text)
    if not spans:
        return text
    begin, end = draw.choice(spans)
    word = text[begin:end]
    at = draw.randrange(len(word))
    return put(text, (begin, end), draw.choice([word[:at] + word[at + 1:], word + "s", word[:at] + "_" + word[at:], "x." + word]))


def remove_attribute(draw, text):
    spans = places(r"[a-z_.]+ = (array<[^>]*>|\"[^\"]*\"|[-0-9.e]+)( : [a-z0-9]+)?,? ?", text)
    return put(text, draw.choice(spans), "") if spans else text


def change_lines(draw, text):
    lines = text.split("\n")
    at, other = draw.randrange(len(lines)), draw.randrange(len(lines))
    kind = draw.randrange(5)
    if kind == 0:
        del lines[at]
    elif kind == 1:
        lines.insert(other, lines[at])
    elif kind == 2:
        lines[at], lines[other] = lines[other], lines[at]
    elif kind == 3:
        lines.insert(at, draw.choice(LINES))
    else:
        lines[at] = lines[at][:draw.randrange(len(lines[at]) + 1)]
    return "\n".join(lines)


def truncate(draw, text):
    return text[:draw.randrange(len(text))]


def swap_values(draw, text):
    spans = places(r"%[a-z_0-9.]+", text)
    return put(text, draw.choice(spans), text[slice(*draw.choice(spans))]) if spans else text


def swap_symbols(draw, text):
    spans = places(r"@[a-z_0-9.]+", text)
    names = [text[slice(*span)] for span in spans] + ["@\"\"", "@\"\\00\\1B\"", "@\"" + "n" * 300 + "\"", "@__metadata__", "@train"]
    return put(text, draw.choice(spans), draw.choice(names)) if spans else text


def random_bytes(draw, text):
    at = draw.randrange(len(text))
    noise = "".join(chr(draw.choice([draw.randrange(32), draw.randrange(256), ord(draw.choice("(){}[]<>\"\\#!%@^:,*?x-"))]))
                    for _ in range(draw.randrange(1, 6)))
    return text[:at] + noise + text[at + draw.randrange(3):]


def nest(draw, text):
    """Brackets, modules and aliases inside each other, without end."""
    many = draw.choice([10, 200, 300, 3000, 200000])
    kind = draw.randrange(5)
    if kind == 0:
        opening = draw.choice("([{<")
        return put(text, draw.choice(places(r"[(<{\[]", text) or [(0, 0)]), opening * many)
    if kind == 1:
        return "module {\n" * min(many, 30000) + text + "}\n" * min(many, 30000)
    if kind == 2:
        lines = ["#a0 = [0]"] + [f"#a{i} = [#a{i - 1}]" for i in range(1, min(many, 30000))]
        return "\n".join(lines) + text.replace("attributes {", f"attributes {{foo.a = {lines[-1].split()[0]}, ", 1)
    if kind == 3:
        return re.sub(r"tensor<", "tensor<" + "1x" * many, text, count=1)
    return text.replace("attributes {", "attributes {foo.a = " + "tuple<" * many + ">" * many + ", ", 1)


NUMBER = r"(?<![\w.])\d+(?![\w.])|(?<=[<x])\d+(?=x)"
MUTATIONS = [
    (replace_one(NUMBER, NUMBERS), 5), (replace_all_equal, 5), (replace_one(r"-?\d+\.\d+(e[-+]?\d+)?", FLOATS), 2),
    (replace_one(r"(?<=[x<])(f32|i32|i64|i8)(?=>)", ELEMENTS), 2), (element_everywhere, 1), (replace_one("tensor", CONTAINERS), 1),
    (add_attribute, 3), (attribute_on_bare_op, 3), (rename_attribute, 3), (remove_attribute, 2), (change_lines, 5), (truncate, 1),
    (swap_values, 3), (swap_symbols, 2), (random_bytes, 2), (nest, 1), (replace_one(r"(?<=gc\.)[a-z_0-9]+", OPS), 3),
    (replace_one(r">(?=[ ,)])", [", \"encoding\">", ", #gc.init<constant, [0.0]>>", "", ">>"]), 1)]


def mutated(draw, texts):
    text = draw.choice(texts)
    for _ in range(draw.choice([1, 1, 1, 2, 3])):
        mutate = draw.choices([m for m, _ in MUTATIONS], [w for _, w in MUTATIONS])[0]
        text = mutate(draw, text) or text
    return text


def small_models(tools, folder):
    texts = [open(os.path.join(folder, name)).read() for name in sorted(os.listdir(folder)) if name.endswith(".mlir")]
    for command in ["mnist --image=112 --batch=2", "encoder --layers=1 --width=8 --heads=2 --ffn=8 --sequence=4 --batch=2 --no-locations",
                    "vit --size=tiny --image=32 --batch=2 --no-locations"]:
        texts.append(subprocess.run([f"{tools}/gc-gen", *command.split()], check=True, capture_output=True, text=True).stdout)
    return texts


def commands(draw, tools, path):
    options = draw.choice(["", "optimizer=adam evaluate", "momentum=0.9 accumulate=2", "policy=sqrt", "policy=budget budget=4MB"])
    flags = draw.choice([[], ["--optimizer=adam", "--evaluate"], ["--accumulate=2"], ["--budget=4MB"], ["--remat=all"]])
    return draw.choice([[f"{tools}/gc-opt", path, f"--gc-train={options}", "-o", os.devnull],
                        [f"{tools}/gc-compile", path, "--threads=2", *flags]])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tools")
    parser.add_argument("models")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int)
    parser.add_argument("--keep")
    given = parser.parse_args()
    texts = small_models(given.tools, given.models)
    tally = bounded.Tally()
    cases = range(given.first, given.first + given.count) if given.only is None else [given.only]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.mlir")
        for case in cases:
            draw = random.Random(f"{given.seed}/{case}")
            text = mutated(draw, texts)
            with open(path, "wb") as file:
                file.write(text.encode("latin-1", errors="replace"))
            outcome = bounded.run(commands(draw, given.tools, path))
            complaint = tally.add(outcome, f"--seed={given.seed} --only={case}")
            if given.keep and (complaint or given.only is not None):
                os.makedirs(given.keep, exist_ok=True)
                os.replace(path, os.path.join(given.keep, f"{given.seed}-{case}.mlir"))
    return tally.finish("mutated models")


if __name__ == "__main__":
    sys.exit(main())
