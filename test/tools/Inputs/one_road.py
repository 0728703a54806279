"""one_road.py SCHEMA MODEL FRACTION OPTIONS: gc-opt and gc-compile plan the same step under one budget.

The budget is FRACTION of the way from the smallest that can be met to what the step needs without
recomputation. Both must have the same arena, recompute
equally many ops, and give the same places to variables, inputs, values and workspaces."""
import re
import subprocess
import sys
import tempfile

from plan_json import plan_json


def plan_of(schema, model, folder, flags):
    path = f"{folder}/step.plan"
    subprocess.run(["gc-compile", model, "-o", path] + flags, check=True, stdout=subprocess.DEVNULL)
    return plan_json(schema, path)


def compiled(plan):
    """What gc-compile made: arena, recomputed ops, places."""
    recomputed, last = 0, None
    for command in plan["micro_batch"]["commands"]:
        this = (command["name"], command["op"]) if command["recomputed"] else None
        recomputed += this is not None and this != last  # an op may be several commands
        last = this
    places = {buffer["offset"] for buffer in plan["buffers"] if buffer["part_of"] == -1}
    transients = plan["transients"]
    if transients >= 0:  # belongs to no op
        places.discard(plan["buffers"][transients]["offset"])
    return plan["arena_bytes"], recomputed, places


def transformed(text):
    """The same of gc-opt's IR."""
    def numbers(attribute):
        return {int(n) for found in re.findall(attribute + r" = array<i64: ([0-9, ]+)>", text)
                for n in found.split(",")}
    places = numbers("gc.offsets")
    places |= {int(n) for n in re.findall(r"gc\.(?:workspace_)?offset = (\d+)", text)}
    arena = int(re.search(r"gc\.arena_bytes = (\d+)", text)[1])
    count = re.search(r"gc\.recomputed_ops = (\d+)", text)
    return arena, int(count[1]) if count else 0, places


def main():
    schema, model, fraction, options = sys.argv[1:]
    flags = [f"--{o}" for o in options.split()]
    with tempfile.TemporaryDirectory() as folder:
        whole = plan_of(schema, model, folder, flags)["arena_bytes"]
        refused = subprocess.run(["gc-compile", model, "-o", f"{folder}/none", "--budget=1"] + flags,
                                 capture_output=True, text=True)
        least = int(re.search(r"try --budget=(\d+)", refused.stderr)[1])
        budget = least + int((whole - least) * float(fraction))
        by_compile = compiled(plan_of(schema, model, folder, flags + [f"--budget={budget}"]))
    done = subprocess.run(
        ["gc-opt", model, f"--gc-train=policy=budget budget={budget} {options}"],
        check=True, capture_output=True, text=True)
    by_opt = transformed(done.stdout)
    names = ("arena bytes", "recomputed ops", "places")
    different = [n for n, a, b in zip(names, by_compile, by_opt) if a != b]
    if different:
        for name, a, b in zip(names, by_compile, by_opt):
            if name == "places":
                a, b = sorted(a - b)[:9], sorted(b - a)[:9]
            print(f"{name}: gc-compile {a}, gc-opt {b}")
        sys.exit("gc-opt and gc-compile differ in " + ", ".join(different))
    if by_compile[0] > budget:
        sys.exit(f"{by_compile[0]} bytes are above the budget of {budget}")
    print(f"same: {by_compile[0]} of {budget} bytes, {by_compile[1]} ops recomputed, "
          f"{len(by_compile[2])} places")


main()
