"""full_disk.py BYTES COMMAND...: the command runs where no file can grow beyond BYTES, as on a full disk.

It is `ulimit -f` in bytes; like there, a tool that does not look after itself is killed by SIGXFSZ.
"""
import os
import resource
import signal
import sys

signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # Python itself ignores it
limit = int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
os.execvp(sys.argv[2], sys.argv[2:])
