"""each_optimizer.py MODEL FOLDER: each optimizer trains MODEL, by every road to the same weights."""
import filecmp
import os
import subprocess
import sys

model, folder = sys.argv[1:]
STATES = {"rmsprop": ["--optimizer=rmsprop"], "centered": ["--optimizer=rmsprop", "--centered", "--momentum=0.5"], "lion": ["--optimizer=lion"],
          "lamb": ["--optimizer=lamb", "--clip-norm=1", "--no-decay=*.bias"],
          "adafactor": ["--optimizer=adafactor", "--clip-value=0.01", "--ema=0.5"]}


def run(tool, *arguments):
    done = subprocess.run([tool, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, (tool, arguments, done.stderr)
    return done.stdout


for name, flags in STATES.items():
    def path(kind):
        return os.path.join(folder, f"{name}.{kind}")

    def train(source, kind, *more):
        run("gc-run", source, "--data=synthetic", "--threads=2", f"--save={path(kind)}", *more)

    run("gc-compile", model, "-o", path("plan"), "--threads=2", "--check", *flags)
    train(model, "initial", "--steps=1", "--lr=0", *flags)
    train(model, "model", "--steps=4", *flags)
    assert not filecmp.cmp(path("initial"), path("model"), shallow=False), f"{name} moves nothing"
    train(path("plan"), "from-plan", "--steps=4")
    run("gc-run", path("plan"), "--data=synthetic", "--threads=2", "--steps=2", f"--checkpoint={path('checkpoint')}")
    train(path("plan"), "resumed", "--steps=4", f"--resume={path('checkpoint')}")
    for kind in ("from-plan", "resumed"):
        assert filecmp.cmp(path("model"), path(kind), shallow=False), f"{name}: {kind}"
    # Recomputation and one micro-batch after the other; the norm of this model mixes samples, which is a warning.
    assert "identical" in run("gc-run", model, "--data=synthetic", "--steps=2", "--verify", "--remat=all", *flags)
    assert "identical" in run("gc-run", model, "--data=synthetic", "--steps=2", "--verify", "--remat=all", "--accumulate=4", *flags)
    run("gc-compile", model, "--device=cuda", "--target=sm_80", "--cuda-library=none", "--check", *flags)
