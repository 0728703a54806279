"""python bad.py KIND FILE: an archive that gc-import must refuse."""

import json
import sys
import zipfile

import pt2
from networks import Block, Mlp

kind, path = sys.argv[1:]
program = Block().p if kind in ("huge-epsilon", "many-parts") else Mlp().p
if kind == "unknown-op":
    for node in program.nodes[:2]:
        node["target"] = "torch.ops.aten.fft_rfft.default"
    program.nodes[4]["target"] = "torch.ops.torchvision.nms.default"
elif kind == "schema":
    program.schema = (9, 1)
elif kind == "dynamic":
    program.values["x"]["sizes"][0] = {"as_expr": {"expr_str": "s0", "hint": {"as_int": 3}}}
elif kind == "nodes":
    program.nodes = program.nodes * 200_000
elif kind == "huge-epsilon":
    norm = next(node for node in program.nodes if "layer_norm" in node["target"])
    next(each for each in norm["inputs"] if each["name"] == "eps")["arg"] = {"as_float": 1e308}
elif kind == "many-parts":
    program.values["x"] = program.meta([2**30])
    program.nodes[0].update(target="torch.ops.aten.unbind.int", inputs=[
        {"name": "self", "arg": {"as_tensor": {"name": "x"}}, "kind": 1}])
elif kind == "same-name":
    program.inputs[2]["parameter"]["parameter_name"] = program.inputs[1]["parameter"]["parameter_name"]
elif kind == "control-flow":
    program.nodes[0]["target"] = "torch.ops.higher_order.cond"
    program.nodes[0]["inputs"][0]["arg"] = {"as_graph": {"name": "true_graph", "graph": {}}}
elif kind == "frozen-norm":
    program.nodes[1] = {**program.nodes[1], "target": "torch.ops.aten.add_.Tensor", "inputs": [
        {"name": "self", "arg": {"as_tensor": {"name": "p_fc1_bias"}}, "kind": 1},
        {"name": "other", "arg": {"as_tensor": {"name": "p_fc2_bias"}}, "kind": 1}]}
entries = program.entries()
weights = "data/weights/model_weights_config.json"


def edit(entry, change):
    table = json.loads(entries[entry])
    change(table)
    entries[entry] = json.dumps(table).encode()


if kind == "missing-weight":
    del entries["data/weights/weight_0"]
elif kind == "missing-name":
    edit(weights, lambda t: t["config"].pop("fc1.weight"))
elif kind == "pickled":
    edit(weights, lambda t: t["config"]["fc1.weight"].update(use_pickle=True))
elif kind == "large-size":
    edit(weights, lambda t: t["config"]["fc1.weight"]["tensor_meta"]["sizes"].__setitem__(0, {"as_int": 2**60}))
elif kind == "small-size":
    edit(weights, lambda t: t["config"]["fc1.weight"]["tensor_meta"]["strides"].__setitem__(0, {"as_int": 1000}))
elif kind == "elsewhere":
    edit(weights, lambda t: t["config"]["fc1.weight"].update(path_name="../../models/model.json"))
elif kind == "no-model":
    del entries["models/model.json"]
elif kind == "deep":
    entries["models/model.json"] = b"[" * 100_000 + b"]" * 100_000
elif kind == "not-json":
    entries["models/model.json"] = b"\x80\x02c__builtin__\neval\n"
elif kind == "lying-shape":
    def change(table):
        table["graph_module"]["graph"]["tensor_values"][program.nodes[0]["name"]]["sizes"][0] = {"as_int": 4}
    edit("models/model.json", change)

if kind == "bomb":
    entries["data/weights/weight_0"] = b"\0" * (1 << 26)
    pt2.write_entries(path, entries, zipfile.ZIP_DEFLATED)
elif kind == "json-bomb":
    entries["models/model.json"] = b" " * (1 << 30)
    pt2.write_entries(path, entries, zipfile.ZIP_DEFLATED)
else:
    pt2.write_entries(path, entries)
    if kind == "outside":
        with zipfile.ZipFile(path, "a") as archive:
            archive.writestr("net/../../outside", b"x")
    if kind == "twice":
        with zipfile.ZipFile(path, "a") as archive:
            archive.writestr("net/byteorder", b"big")
    if kind == "truncated":
        with open(path, "r+b") as file:
            file.truncate(2000)
    if kind == "checksum":
        data = bytearray(open(path, "rb").read())
        data[data.find(entries["data/weights/weight_1"])] ^= 1
        open(path, "wb").write(data)
