"""run_until_kept.py CACHE COMMAND...: runs it until its times are kept. A run that others disturb keeps none, and tests
run side by side."""
import glob
import os
import subprocess
import sys

cache, command = sys.argv[1], sys.argv[2:]
environment = {**os.environ, "GC_NO_CALIBRATE": "0", "XDG_CACHE_HOME": cache}
for attempt in range(60):
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
    if glob.glob(f"{cache}/gc/*.times.json"):
        sys.exit(0)
sys.exit("no run was undisturbed")
