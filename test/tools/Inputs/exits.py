"""exits.py CODE COMMAND...: runs the command and succeeds if it ends with exactly that exit code."""
import subprocess
import sys

code = subprocess.run(sys.argv[2:]).returncode
if code != int(sys.argv[1]):
    sys.exit(f"exits.py: expected exit code {sys.argv[1]}, got {code}")
