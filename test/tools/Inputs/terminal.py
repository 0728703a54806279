"""terminal.py COLUMNS COMMAND...: runs it on a pseudo-terminal of so many columns, tells its exit code and fails
where anything that rewrites itself is wider than that.

Prints what a person would have seen: every update of a line on a line of its own, escape sequences left out (they
are counted).
"""
import fcntl
import os
import pty
import re
import struct
import sys
import termios

ESCAPE = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def run(columns, command):
    """Its whole output and its exit code."""
    process, terminal = pty.fork()
    if process == 0:
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        os.execvp(command[0], command)
    output = b""
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:  # the other side has gone
            break
        if not part:
            break
        output += part
    return output.decode(), os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def main():
    columns = int(sys.argv[1])
    text, exit_code = run(columns, sys.argv[2:])
    rewritten = wide = 0
    for line in text.replace("\r\n", "\n").split("\n"):
        raw = line.split("\r")
        for i, update in enumerate(raw):
            shown = ESCAPE.sub("", update)
            print(shown)
            # What stood there is a line that nothing rewrites; nor is what comes after wiping a line.
            is_text = i == 0 or update.startswith("\x1b[K") or not ESCAPE.sub("", raw[i - 1]).strip() and i > 1
            if len(raw) == 1 or is_text:
                continue
            rewritten += 1
            if len(shown) >= columns:
                wide += 1
                print(f"^ {len(shown)} columns")
    escapes = ESCAPE.findall(text)
    colours = sum(escape.endswith("m") for escape in escapes)
    print(f"exit code {exit_code}, {rewritten} updates, {len(escapes)} escape sequences, {colours} for colours")
    return 1 if wide or exit_code else 0


if __name__ == "__main__":
    sys.exit(main())
