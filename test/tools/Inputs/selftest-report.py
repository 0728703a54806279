"""selftest-report.py FILE: the file that a self-test leaves has what its readers need."""
import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    report = json.load(file)
assert report["verdict"].startswith("passed: "), report["verdict"]
assert report["target"] == "sm_120"
properties = report["properties"]
assert properties["compute_capability"] == "12.9"
for attribute in ("multiprocessor_count", "max_shared_memory_per_block_optin", "l2_cache_size"):
    assert properties["attributes"][attribute] > 0, attribute
sections = {section["name"]: section for section in report["sections"]}
assert list(sections) == ["device", "conformance", "gradients", "ops", "training", "rates"]
for section in sections.values():
    assert section["failed"] == 0 and section["passed"] > 0, section["name"]
    outcomes = [case["outcome"] for case in section["cases"]]
    assert outcomes.count("passed") == section["passed"], section["name"]
    for case in section["cases"]:
        assert case["outcome"] != "skipped" or case["text"], case["name"]
for case in sections["gradients"]["cases"]:
    for tensor in case.get("tensors", []):
        assert tensor["error"] <= tensor["bound"], tensor
for case in sections["ops"]["cases"]:
    for op in case.get("ops", []):
        assert op["error"] <= op["bound"] and op["microseconds"] > 0, op
memory = sections["training"]["generated_memory"]
assert memory["arena_bytes"] > 0 and memory["context_bytes"] > 0 and memory["before_bytes"] == 0
assert sections["training"]["generated_step_seconds"]["predicted"] > 0
rates = {case["name"]: case for case in sections["rates"]["cases"]}
kinds = rates["mnist.generated"]["kinds"]
for kind in ("conv2d", "conv2d_grad_filter", "linear"):
    assert kinds[kind]["flops_per_second"] > 0, kind
assert rates["launches"]["launch_seconds"] > 0
assert rates["copies"]["to_device_bytes_per_second"] > 0
assert report["input_bytes_per_second"] == rates["copies"]["input_bytes_per_second"] > 0
assert all(value > 0 for value in report["roofline"].values())
assert abs(report["roofline"]["starts_per_second"] * rates["launches"]["launch_seconds"] - 1) < 1e-6
classes = {(row["class"], row["way"]): row for row in report["product_classes"]}
for direction in ("forward", "data", "weights"):
    assert classes["other convolution, " + direction, "generated"]["flops_per_second"] > 0, direction
    assert classes["thin product, " + direction, "generated"]["speed"] > 0, direction
assert {op["kind"] for op in report["measured_ops"]} >= {"conv2d", "linear", "layer_norm"}
assert report["next_steps"] == []
