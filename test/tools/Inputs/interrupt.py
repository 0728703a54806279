"""interrupt.py COMMAND...: sends Ctrl-C (SIGINT) after the first step is reported; passes the exit code on."""
import signal
import subprocess
import sys

process = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, text=True)
sent = False
for line in process.stdout:
    print(line, end="", flush=True)
    if line.startswith("step ") and not sent:
        process.send_signal(signal.SIGINT)
        sent = True
code = process.wait()
sys.exit(code if sent else "interrupt.py: the command ended before its first step")
