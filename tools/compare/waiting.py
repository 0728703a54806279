"""waiting.py PLAN... [--rounds=N] [--steps=N]: what a step takes while another program keeps one core busy, by how threads wait.

The fastest step of all rounds is about what a quiet machine takes, also where this one is not.

For each plan (give it as many threads as the machine has cores: gc-compile's default), each way of waiting, with and
without a busy core: the median over the rounds of a run's median step. Everything runs in turn, so that what else the
machine does meets all of them alike.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

WAYS = {"passive": {"OMP_WAIT_POLICY": "passive"}, "active": {"OMP_WAIT_POLICY": "active"},
        "spin 1000": {"GOMP_SPINCOUNT": "1000"}, "spin 10000": {"GOMP_SPINCOUNT": "10000"},
        "spin 300000": {"GOMP_SPINCOUNT": "300000"}}  # the last is libgomp's default
BUSY = "while True: pass"


def step_seconds(tool, plan, steps, variables):
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("OMP_", "GOMP_"))}
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.json")
        subprocess.run([tool, plan, f"--steps={steps}", f"--report={report}", "--no-calibrate"], check=True,
                       stdout=subprocess.DEVNULL, env={**environment, **variables})
        with open(report, encoding="utf-8") as file:
            return json.load(file)["step_seconds"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("plans", nargs="+")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--gc-run", default=os.path.join(os.path.dirname(__file__), "../../build/bin/gc-run"))
    arguments = parser.parse_args()
    times = {}
    for _ in range(arguments.rounds):
        for plan in arguments.plans:
            for busy in (False, True):
                for way, variables in WAYS.items():
                    # On a core of its own, which threads of the step want too.
                    other = subprocess.Popen(["taskset", "-c", "0", sys.executable, "-c", BUSY]) if busy else None
                    try:
                        seconds = step_seconds(arguments.gc_run, plan, arguments.steps, variables)
                    finally:
                        if other:
                            other.kill()
                            other.wait()
                    times.setdefault((plan, way, busy), []).append(seconds)
    print(f"{'plan':<20} {'waiting':<12} {'fastest, ms':>12} {'alone, ms':>10} {'busy core, ms':>14}")
    for plan in arguments.plans:
        for way in WAYS:
            alone, busy = (statistics.median(run["median"] for run in times[plan, way, is_busy])
                           for is_busy in (False, True))
            fastest = min(run["min"] for run in times[plan, way, False])
            print(f"{os.path.basename(plan):<20} {way:<12} {1e3 * fastest:>12.3f} {1e3 * alone:>10.3f} {1e3 * busy:>14.3f}")


if __name__ == "__main__":
    main()
