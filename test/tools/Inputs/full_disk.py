"""full_disk.py BYTES COMMAND...: the command runs where no file can grow beyond BYTES, as on a full disk."""
import os
import resource
import signal
import sys

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # write() then fails instead of killing the process
limit = int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
os.execvp(sys.argv[2], sys.argv[2:])
