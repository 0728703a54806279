#!/usr/bin/env python3
"""printed_pipeline.py GC-OPT MODEL OPTIONS: prints the pipeline that --gc-train=OPTIONS stands for, and fails unless that
text makes the same IR and prints the same text again."""
import subprocess
import sys

tool, model, options = sys.argv[1:]


def run(passes):
    done = subprocess.run([tool, model, passes, "--dump-pass-pipeline"], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{passes}: exit code {done.returncode}\n{done.stderr}")
    # The text is everything from the module's line to the end of the pipeline.
    pipeline = done.stderr[done.stderr.index("builtin.module("):]
    return done.stdout, pipeline.strip()


ir, pipeline = run(f"--gc-train={options}")
print(pipeline)
again, printed_again = run(f"--pass-pipeline={pipeline}")
if again != ir:
    sys.exit("the printed pipeline makes other IR")
if printed_again != pipeline:
    sys.exit(f"printed again it is\n{printed_again}")
