"""waits.py FEW MANY STEPS WAITS: the run with STEPS more steps waited WAITS times more for each of them."""
import sys

few, many, steps, waits = sys.argv[1:]
WAITING = ("cuEventSynchronize", "cuStreamSynchronize", "cuCtxSynchronize", "cuMemcpyDtoH", "cuMemcpyHtoD")


def calls(path):
    counts = dict(line.split() for line in open(path))
    assert int(counts["cuEventSynchronize"]) > 0, counts
    return sum(int(counts.get(name, 0)) for name in WAITING)


more = calls(many) - calls(few)
assert more == int(steps) * int(waits), f"{more} waits in {steps} steps"
