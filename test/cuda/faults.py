#!/usr/bin/env python3
"""faults.py BIN EMULATOR: every driver call that training makes fails once in turn.

Trains a small network on the emulated driver, with a checkpoint after every epoch, and counts the
calls of each driver function. Then repeats the run once for each function, failing its first call, one in the
middle and its last, with several results. Every such run must
  - end with exit code 4 and a first line that names the call and the driver's error (calls that only
    release or count something may be shrugged off, and a capture that fails done without, but neither
    may change what was trained),
  - end in time, and leave nothing behind that the driver knows of,
  - leave the checkpoint of the last epoch that was finished, from which training goes on to the same
    weights, bit by bit, as a run without faults.
"""
import os
import shutil
import subprocess
import sys
import tempfile

EPOCHS = 3
RESULTS = {
    "CUDA_ERROR_OUT_OF_MEMORY": 2,
    "CUDA_ERROR_LAUNCH_FAILED": 719,
    "CUDA_ERROR_ILLEGAL_ADDRESS": 700,
    "CUDA_ERROR_DEVICE_UNAVAILABLE": 46,
}
# Failing to release or to count something is no reason to fail a run; the call after it may.
RELEASES = {
    "cuMemFree", "cuMemFreeHost", "cuStreamDestroy", "cuEventDestroy", "cuModuleUnload",
    "cuGraphDestroy", "cuGraphExecDestroy", "cuDevicePrimaryCtxRelease", "cuCtxSynchronize",
    "cuCtxSetCurrent",  # its last call comes before the releases
    "cuMemGetInfo",  # for the report
}
# What fails while a list is captured, and not for good: its commands are submitted one by one.
CAPTURES = {"cuStreamBeginCapture", "cuStreamEndCapture", "cuGraphInstantiate", "cuLaunchKernel", "cuMemsetD8Async", "cuMemcpyDtoDAsync"}
# Asked only for text in messages.
TEXT = {"cuGetErrorName", "cuGetErrorString", "cuDriverGetVersion", "cuDeviceGetUuid"}


class Bench:
    def __init__(self, bin_dir, emulator, scratch):
        self.bin, self.emulator, self.scratch = bin_dir, emulator, scratch
        self.failures = []

    def path(self, name):
        return os.path.join(self.scratch, name)

    def tool(self, *command, environment=None):
        return subprocess.run([os.path.join(self.bin, command[0]), *command[1:]],
                              env={**os.environ, **(environment or {})}, capture_output=True,
                              text=True, timeout=120)

    def train(self, name, resume=None, **environment):
        """Trains; a folder with weights.safetensors and a checkpoint."""
        folder = self.path(name)
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        command = ["gc-run", self.path("net.plan"), f"--epochs={EPOCHS}", "--limit=64", "--seed=3",
                   "--workers=1", f"--checkpoint={folder}/checkpoint",
                   f"--save={folder}/weights.safetensors"]
        if resume:
            command.append(f"--resume={resume}")
        return folder, self.tool(*command, environment={
            "LD_LIBRARY_PATH": self.emulator, "GC_EMULATOR_LEAKS": f"{folder}/leaks",
            **environment})

    def expect(self, condition, what, done=None):
        if not condition:
            self.failures.append(what + (f"\n    {done.stderr.strip()[:600]}" if done else ""))

    def weights(self, folder):
        with open(os.path.join(folder, "weights.safetensors"), "rb") as file:
            return file.read()


def occurrences(count):
    return sorted({1, (count + 1) // 2, count})


def main():
    bin_dir, emulator = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as scratch:
        bench = Bench(bin_dir, emulator, scratch)
        model = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "models", "mlp.mlir")
        compiled = bench.tool("gc-compile", model, "--device=cuda", "--target=sm_80", "--optimizer=adam",
                              "--cuda-library=none", "-o", bench.path("net.plan"))
        if compiled.returncode:
            sys.exit(f"faults: {compiled.stderr}")
        calls_file = bench.path("calls")
        folder, done = bench.train("plain", GC_EMULATOR_CALLS=calls_file)
        if done.returncode:
            sys.exit(f"faults: training fails without a fault: {done.stderr}")
        expected = bench.weights(folder)
        with open(calls_file) as file:
            calls = {name: int(count) for name, count in (line.split() for line in file)}
        assert len(calls) > 20, calls

        runs = resumed = 0
        for name, count in sorted(calls.items()):
            if name in TEXT or count == 0:
                continue
            for which, occurrence in enumerate(occurrences(count)):
                # All results for the first call, one of them in turn for the others.
                for index, (result, code) in enumerate(RESULTS.items()):
                    if which and index != (which + len(name)) % len(RESULTS):
                        continue
                    what = f"{name} call {occurrence} of {count} fails with {result}"
                    folder, done = bench.train("faulty", GC_EMULATOR_FAIL=f"{name}:{occurrence}={code}")
                    runs += 1
                    if name in RELEASES and done.returncode == 0:
                        bench.expect(bench.weights(folder) == expected, what + ": other weights", done)
                        continue
                    if name in CAPTURES and done.returncode == 0:
                        bench.expect(bench.weights(folder) == expected, what + ": other weights", done)
                        bench.expect("note: commands are submitted one by one" in done.stderr, what + ": not told", done)
                        continue
                    bench.expect(done.returncode == 4, f"{what}: exit code {done.returncode}, not 4", done)
                    lines = [line for line in done.stderr.splitlines() if line.startswith("gc-run:")]
                    first = lines[0] if lines else ""
                    bench.expect(name in first or name in RELEASES, f"{what}: the call is not named", done)
                    bench.expect(name != "cuLaunchKernel" or "(kernel k" in first,
                                 f"{what}: the op is not named", done)
                    bench.expect("CUDA_ERROR_" in first, f"{what}: the error is not named", done)
                    with open(os.path.join(folder, "leaks")) as file:
                        leaks = file.read()
                    bench.expect(not leaks, f"{what}: left behind {leaks.strip()[:300]}")
                    if os.path.exists(f"{folder}/weights.safetensors"):  # a fault after the end
                        bench.expect(bench.weights(folder) == expected, what + ": other weights", done)
                    checkpoint = f"{folder}/checkpoint"
                    if os.path.isdir(checkpoint) and os.listdir(checkpoint) and which:
                        kept = bench.path("kept")
                        shutil.rmtree(kept, ignore_errors=True)
                        shutil.copytree(checkpoint, kept)
                        again, more = bench.train("resumed", resume=kept)
                        resumed += 1
                        bench.expect(more.returncode == 0, f"{what}: does not resume", more)
                        if more.returncode == 0:
                            bench.expect(bench.weights(again) == expected, f"{what}: resumed to other weights")
        print(f"{runs} faults in {len(calls)} driver functions, {resumed} runs resumed")
        if resumed == 0:
            bench.failures.append("no run left a checkpoint to resume from")
        for failure in bench.failures:
            print("FAILED " + failure)
        return 1 if bench.failures else 0


if __name__ == "__main__":
    sys.exit(main())
