"""limits.py BIN MODELS: environments that give less than was planned: OpenMP teams, threads, time to clean up.

The planned team of threads and the same bits, or exit code 4 with the reason; a tool that is killed leaves nothing in TMPDIR.
"""
import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import time

import bounded

BIN, MODELS = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
# A user other than root is held to the limit on processes. 1 is below what any session has.
NOBODY = 65534
failures = []


def expect(condition, what, outcome=None):
    print(("ok      " if condition else "FAILED  ") + what, flush=True)
    if not condition:
        failures.append(what)
        if outcome:
            print(f"        exit code {outcome.code}\n        " + "\n        ".join(outcome.errors.splitlines()[:5]))


def weights(folder, plan, **environment):
    """Trains a few steps; how that ended, and the bytes of the weights."""
    saved = folder / "weights.safetensors"
    saved.unlink(missing_ok=True)
    outcome = bounded.run([BIN / "gc-run", plan, "--steps=3", f"--save={saved}"], seconds=60,
                          env=dict(os.environ, **environment))
    return outcome, saved.read_bytes() if saved.exists() else b""


def check_teams(folder, model):
    plan = folder / f"{model}.plan"
    made = bounded.run([BIN / "gc-compile", MODELS / f"{model}.mlir", "-o", plan, "--threads=2"], seconds=120)
    assert made.code == 0, made.errors
    plain, expected = weights(folder, plan)
    assert plain.code == 0, plain.errors
    for setting in ("OMP_MAX_ACTIVE_LEVELS=0", "OMP_DYNAMIC=true", "OMP_NUM_THREADS=1", "OMP_PROC_BIND=true",
                    "OMP_PLACES={0}", "OMP_NESTED=false"):
        outcome, found = weights(folder, plan, **dict([setting.split("=", 1)]))
        expect(outcome.code == 0 and found == expected, f"{model}: {setting} changes no bit", outcome)
    outcome, found = weights(folder, plan, OMP_STACKSIZE="16k")
    expect(outcome.code == 4 and not found and "OMP_STACKSIZE" in outcome.errors,
           f"{model}: a stack too small for kernels is refused with its name", outcome)
    outcome, found = weights(folder, plan, OMP_THREAD_LIMIT="1")
    expect(outcome.code == 4 and not found and "OMP_THREAD_LIMIT" in outcome.errors,
           f"{model}: OMP_THREAD_LIMIT=1 is refused with its name", outcome)
    # On one CPU the planned team takes turns.
    outcome = bounded.run(["taskset", "-c", "0", BIN / "gc-run", plan, "--steps=3", f"--save={folder / 'weights.safetensors'}"],
                          seconds=120)
    expect(outcome.code == 0 and (folder / "weights.safetensors").read_bytes() == expected,
           f"{model}: one CPU changes no bit", outcome)


def without_threads():
    """For a child: no process and no thread can be created any more."""
    if os.getuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))


def check_threads(folder):
    plan = folder / "mlp.plan"
    os.chmod(folder, 0o777)
    run = lambda *arguments: bounded.run([BIN / "gc-run", *arguments], seconds=60, preexec_fn=without_threads)
    outcome = run(plan, "--steps=1")
    expect(outcome.code == 4 and "ulimit -u" in outcome.errors, "no threads for the team: exit code 4", outcome)
    # One thread is enough for what was compiled for one: the loader and the monitor do without.
    made = bounded.run([BIN / "gc-compile", MODELS / "mlp.mlir", "-o", folder / "one.plan", "--threads=1"], seconds=120)
    assert made.code == 0, made.errors
    outcome = run(folder / "one.plan", "--steps=2", "--workers=4", f"--report={folder / 'report.json'}")
    expect(outcome.code == 0, "no threads for loader and monitor: trains all the same", outcome)
    if outcome.code == 0:
        expect(len(json.loads((folder / "report.json").read_text())["loss"]) == 2, "and reports its steps")
    outcome = bounded.run([BIN / "gc-compile", MODELS / "mlp.mlir", "-o", folder / "two.plan", "--threads=2"],
                          seconds=120, preexec_fn=without_threads)
    expect(outcome.code == 0 and weights(folder, folder / "two.plan")[1] == weights(folder, plan)[1],
           "no threads for the compiler: a plan that does the same", outcome)


def check_kills(folder):
    """SIGKILL at many moments: nothing may be left, as nobody can clean up after it."""
    temporary = folder / "tmp"
    temporary.mkdir()
    environment = dict(os.environ, TMPDIR=str(temporary))
    commands = {
        "gc-compile": [BIN / "gc-compile", MODELS / "convnet.mlir", "-o", folder / "killed.plan"],
        "gc-compile --device=cuda": [BIN / "gc-compile", MODELS / "mlp.mlir", "-o", folder / "killed.plan", "--device=cuda",
                                     "--target=sm_80"],
        "gc-run": [BIN / "gc-run", MODELS / "convnet.mlir", "--steps=1"],
    }
    for name, command in commands.items():
        begin = time.monotonic()
        whole = bounded.run(command, seconds=120, env=environment)
        seconds = time.monotonic() - begin
        expect(whole.code == 0, f"{name} works", whole)
        left = set(os.listdir(temporary))
        moments = 12
        for moment in range(moments):
            process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                       start_new_session=True)
            try:
                process.wait(timeout=seconds * (moment + 0.5) / moments)
            except subprocess.TimeoutExpired:
                pass
            os.killpg(process.pid, signal.SIGKILL) if process.poll() is None else None
            process.wait()
            left |= set(os.listdir(temporary))
        expect(not left, f"{name}, killed at {moments} moments, leaves nothing in TMPDIR (found: {sorted(left)})")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for model in ("mlp", "convnet"):
            check_teams(folder, model)
        check_threads(folder)
        check_kills(folder)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
