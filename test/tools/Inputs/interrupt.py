"""interrupt.py SIGNAL WHEN COMMAND...: sends SIGNAL (SIGINT is Ctrl-C) to the command and passes its exit code on.

WHEN is `step` (after the first step is reported) or a number of seconds; standard input stays open and empty
until then. SIGNAL may be several, sent at once: SIGINT,SIGINT.
"""
import signal
import subprocess
import sys
import threading
import time

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def default_signals():
    """A test that runs in the background has some of them ignored, and so would the command."""
    for number in ENDING:
        signal.signal(number, signal.SIG_DFL)


signals = [signal.Signals[name] for name in sys.argv[1].split(",")]
process = subprocess.Popen(sys.argv[3:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                           preexec_fn=default_signals)
threading.Timer(120, process.kill).start()
sent = False


def send():
    global sent
    for number in signals:
        process.send_signal(number)
    sent = True


if sys.argv[2] != "step":
    time.sleep(float(sys.argv[2]))
    if process.poll() is None:
        send()
for line in process.stdout:
    print(line, end="", flush=True)
    if line.startswith("step ") and not sent:
        send()
code = process.wait()
for timer in threading.enumerate():
    if isinstance(timer, threading.Timer):
        timer.cancel()
if not sent:
    sys.exit("interrupt.py: the command ended before it was interrupted")
sys.exit(code if code >= 0 else f"interrupt.py: died of {signal.Signals(-code).name}")
