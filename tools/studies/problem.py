"""What ends a study early: a reason in one line and an exit code (those of runtime/plan/ExitCode.h)."""

FAILED, BAD_USAGE = 1, 2


class Problem(Exception):
    def __init__(self, reason, code=BAD_USAGE):
        super().__init__(reason)
        self.code = code


class Ended(BaseException):
    """A signal that asks to end; no `except Exception` may swallow it."""

    def __init__(self, number):
        super().__init__(f"signal {number}")
        self.code = 128 + number
