"""Lines of standard input, read from the descriptor itself.

Pipes, files and terminals all work so, nothing is read ahead into a buffer that the next reader
does not see, and a thread that waits here holds no lock of `sys.stdin` when the interpreter ends.
"""

from __future__ import annotations

import os
import sys

CHUNK = 65_536


class StdinLines:
    """Standard input, from where it is now."""

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
        """Return when the input ends; what comes before that is dropped."""
        self._held.clear()
        while os.read(sys.stdin.fileno(), CHUNK):
            pass
