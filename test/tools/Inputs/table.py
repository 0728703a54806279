"""table.py TEST FOLDER MODELS: runs the table in a lit test, whose rows are `# CODE | COMMAND | TEXT`.

Every command is a shell line; it must end with CODE, and TEXT must be on the first line of standard error (none
where it is empty). A `|` of the shell is written `\\|`. They run one after the other in FOLDER, which is made anew; $MODELS is the folder of models
and $INPUTS that of this script.
"""
import os
import re
import shutil
import subprocess
import sys

test, folder, models = (os.path.abspath(path) for path in sys.argv[1:4])
shutil.rmtree(folder, ignore_errors=True)
os.makedirs(folder)
environment = dict(os.environ, MODELS=models, INPUTS=os.path.dirname(os.path.abspath(__file__)),
                   PYTHON=sys.executable)
with open(test, encoding="utf-8") as file:
    rows = re.findall(r"^# (\d+) \| (.*) (?<!\\)\| ?(.*)$", file.read(), re.M)
failures = 0
for code, command, text in rows:
    command = command.strip().replace("\\|", "|")
    run = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, timeout=300,
                         stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    reason = run.stderr.partition("\n")[0]
    if run.returncode != int(code) or text.strip() not in reason or (not text.strip() and reason):
        failures += 1
        print(f"{command}\n  expected {code}: {text}\n  got      {run.returncode}: {reason}")
print(f"{len(rows)} rows, {failures} wrong")
sys.exit(1 if failures or not rows else 0)
