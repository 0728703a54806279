"""install_test.py BUILD SOURCE: what `cmake --install` leaves works by itself, for users and for programs.

The tools run from where they were installed, and a small project outside of this one finds the package,
compiles a model and trains it.
"""
import os
import subprocess
import sys
import tempfile

os.environ["GC_NO_CALIBRATE"] = "1"  # nothing of this is kept
build, source = map(os.path.abspath, sys.argv[1:3])


def run(*command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"install_test: {' '.join(command)} ended with {done.returncode}\n{done.stdout[-4000:]}")
    return done.stdout


with tempfile.TemporaryDirectory() as folder:
    prefix = os.path.join(folder, "prefix")
    run("cmake", "--install", build, "--prefix", prefix)
    tool = lambda name: os.path.join(prefix, "bin", name)
    for name in ("gc-gen", "gc-import", "gc-opt", "gc-compile", "gc-run", "gc-diff", "gc-pack", "gc-plan"):
        assert "gc" in run(tool(name), "--version"), name
    for path in ("man/man1/gc-run.1", "bash-completion/completions/gc-run", "zsh/site-functions/_gc-plan", "man/man1/gc-diff.1",
                 "fish/vendor_completions.d/gc-gen.fish"):
        with open(os.path.join(prefix, "share", path), encoding="utf-8") as file:
            assert "gc" in file.read(), path
    model = os.path.join(prefix, "share", "gc", "models", "mlp.mlir")
    text = run(tool("gc-run"), model, "--steps=3", cwd=folder)
    assert "done" in text, text
    # The plugin is found where it was installed: the answer is about the driver, not about a file.
    answer = subprocess.run([tool("gc-run"), model, "--device=cuda", "--cuda-library=none", "--steps=1"],
                            capture_output=True, text=True, cwd=folder)
    assert answer.returncode == 4 and "libcuda" in answer.stderr or answer.returncode == 0, answer.stderr

    project = os.path.join(folder, "consumer")
    run("cmake", "-G", "Ninja", "-S", os.path.join(source, "test/install/consumer"), "-B", project,
        f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_BUILD_TYPE=Release")
    run("cmake", "--build", project)
    assert "loss" in run(os.path.join(project, "example"), cwd=folder)
    print(run(os.path.join(project, "consumer"), model, cwd=folder).splitlines()[-1])
