"""What is typed while nobody reads is not shown in the middle of something else; it is read when someone does."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def unseen_keys() -> Iterator[None]:
    """Keys are neither echoed nor read as lines, in which Ctrl-D would be lost; Ctrl-C still stops."""
    try:
        import termios

        before = termios.tcgetattr(sys.stdin)
    except (ImportError, OSError, ValueError, AttributeError):  # no such terminal here
        yield
        return
    quiet = list(before)
    quiet[0] &= ~termios.ICRNL  # Enter stays Enter, also behind Alt
    quiet[3] &= ~(termios.ECHO | termios.ICANON)
    termios.tcsetattr(sys.stdin, termios.TCSANOW, quiet)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSANOW, before)
