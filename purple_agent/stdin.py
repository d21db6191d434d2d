"""Lines of standard input, read from the file descriptor.

This works for pipes, files and terminals, does not read ahead into a buffer that the next reader
cannot see, and a waiting thread holds no lock of `sys.stdin` when the interpreter exits.
"""

from __future__ import annotations

import os
import sys

CHUNK = 65_536


class StdinLines:
    """Standard input from its current position."""

    def __init__(self) -> None:
        self._held = bytearray()

    def readline(self) -> bytes:
        """Return the next line with its end, or the rest of the input; empty at the end."""
        searched = 0
        while (end := self._held.find(b"\n", searched)) < 0:
            searched = len(self._held)
            chunk = os.read(sys.stdin.fileno(), CHUNK)
            if not chunk:
                end = len(self._held) - 1
                break
            self._held += chunk
        line = bytes(self._held[: end + 1])
        del self._held[: end + 1]
        return line

    def wait_for_end(self) -> None:
        """Drop the rest of the input and return when it ends."""
        self._held.clear()
        while os.read(sys.stdin.fileno(), CHUNK):
            pass
