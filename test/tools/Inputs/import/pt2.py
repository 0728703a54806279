"""Archives as torch.export.save writes them, made by hand: small enough to read, and wrong where a test wants it."""

import json
import struct
import zipfile

F32, I64, BOOL, F64 = 7, 5, 12, 8
FORMATS = {F32: "f", I64: "q", BOOL: "?", F64: "d"}


def count(shape):
    product = 1
    for size in shape:
        product *= size
    return product


def strides_of(shape):
    strides, stride = [], 1
    for size in reversed(shape):
        strides.insert(0, stride)
        stride *= size
    return strides


class Value(str):
    """The name of a tensor in the graph."""


class Program:
    def __init__(self, schema=(8, 20)):
        self.schema = schema
        self.values, self.nodes, self.inputs, self.outputs = {}, [], [], []
        self.weights, self.constants, self.same = {}, {}, {}
        self.numbers = {}  # parameters and statistics, by PyTorch's name

    def meta(self, shape, dtype=F32, strides=None):
        return {"dtype": dtype, "sizes": [{"as_int": n} for n in shape], "requires_grad": False,
                "device": {"type": "cpu", "index": None},
                "strides": [{"as_int": n} for n in (strides or strides_of(shape))],
                "storage_offset": {"as_int": 0}, "layout": 7}

    def value(self, name, shape, dtype=F32, strides=None):
        self.values[name] = self.meta(shape, dtype, strides)
        return Value(name)

    def _stored(self, kind, spec, name, shape, numbers, dtype, table):
        value = self.value(f"{kind}_{name.replace('.', '_')}", shape, dtype)
        self.inputs.append({spec[0]: {"arg": {"name": value}, spec[1]: name, **spec[2]}})
        table[name] = (shape, dtype, list(numbers))
        return value

    def parameter(self, name, shape, numbers):
        self.numbers[name] = (shape, list(numbers))
        return self._stored("p", ("parameter", "parameter_name", {}), name, shape, numbers, F32, self.weights)

    def tied(self, name, other):
        """Another name of a parameter: the same bytes in the archive."""
        value = self.value(f"p_{name.replace('.', '_')}", self.weights[other][0])
        self.inputs.append({"parameter": {"arg": {"name": value}, "parameter_name": name}})
        self.same[name] = other
        return value

    def buffer(self, name, shape, numbers, dtype=F32, persistent=True):
        table = self.weights if persistent else self.constants
        return self._stored("b", ("buffer", "buffer_name", {"persistent": persistent}), name, shape, numbers, dtype,
                            table)

    def constant(self, name, shape, numbers, dtype=F32):
        return self._stored("c", ("tensor_constant", "tensor_constant_name", {}), name, shape, numbers, dtype,
                            self.constants)

    def input(self, name, shape, dtype=F32):
        value = self.value(name, shape, dtype)
        self.inputs.append({"user_input": {"arg": {"as_tensor": {"name": value}}}})
        return value

    def argument(self, value):
        if value is None:
            return {"as_none": True}
        if isinstance(value, Value):
            return {"as_tensor": {"name": value}}
        if isinstance(value, bool):
            return {"as_bool": value}
        if isinstance(value, int):
            return {"as_int": value}
        if isinstance(value, float):
            return {"as_float": value}
        if isinstance(value, str):
            return {"as_string": value}
        if isinstance(value, dict):
            return value
        if value and isinstance(value[0], Value):
            return {"as_tensors": [{"name": v} for v in value]}
        return {"as_ints": list(value)}

    def call(self, target, shapes, module="", /, layer="torch.nn.modules.Layer", dtype=F32, **arguments):
        """A node; `shapes` is that of its output, or a list of them. Returns its outputs."""
        several = bool(shapes) and isinstance(shapes[0], (tuple, list))
        names = [self.value(f"v{len(self.values)}", shape, dtype) for shape in (shapes if several else [shapes])]
        stack = "L__self__,,model.Net" + (f";L__self__{module},{module},{layer}" if module else "")
        self.nodes.append({
            "target": f"torch.ops.aten.{target}",
            "inputs": [{"name": n, "arg": self.argument(v), "kind": 1} for n, v in arguments.items()],
            "outputs": ([{"as_tensors": [{"name": n} for n in names]}] if several
                        else [{"as_tensor": {"name": names[0]}}]),
            "metadata": {"nn_module_stack": stack}, "name": names[0]})
        return names if several else names[0]

    def output(self, value):
        self.outputs.append({"user_output": {"arg": {"as_tensor": {"name": value}}}})

    def model(self):
        graph = {"inputs": [], "outputs": [], "nodes": self.nodes, "tensor_values": self.values,
                 "sym_int_values": {}, "sym_bool_values": {}}
        return {"graph_module": {"graph": graph, "module_call_graph": [],
                                 "signature": {"input_specs": self.inputs, "output_specs": self.outputs}},
                "opset_version": {"aten": 10}, "range_constraints": {},
                "schema_version": {"major": self.schema[0], "minor": self.schema[1]}, "torch_version": "2.15.0"}

    def entries(self):
        """Names below the archive's folder, and their bytes."""
        result = {"models/model.json": json.dumps(self.model()).encode()}
        for kind, prefix, table in (("weights", "weight", self.weights), ("constants", "tensor", self.constants)):
            config = {}
            for i, (name, (shape, dtype, numbers)) in enumerate(table.items()):
                config[name] = {"path_name": f"{prefix}_{i}", "is_param": True, "use_pickle": False,
                                "tensor_meta": self.meta(shape, dtype)}
                assert len(numbers) == count(shape), name
                result[f"data/{kind}/{prefix}_{i}"] = struct.pack(f"<{len(numbers)}{FORMATS[dtype]}", *numbers)
            for name, other in self.same.items():
                if other in table:
                    config[name] = config[other]
            result[f"data/{kind}/model_{kind}_config.json"] = json.dumps({"config": config}).encode()
        result["byteorder"] = b"little"
        return result

    def write(self, path):
        write_entries(path, self.entries())


def write_entries(path, entries, compression=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, data in entries.items():
            archive.writestr(f"net/{name}", data)


def write_safetensors(path, tensors, metadata=None):
    """`tensors`: name to (dtype name, shape, numbers)."""
    formats = {"F32": "f", "F64": "d", "I64": "q"}
    header, data = {"__metadata__": metadata or {}}, b""
    for name, (dtype, shape, numbers) in tensors.items():
        packed = struct.pack(f"<{len(numbers)}{formats[dtype]}", *numbers)
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [len(data), len(data) + len(packed)]}
        data += packed
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)
