"""DownloadProgress: how far a download is, on one line of a terminal or in plain lines."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Self, TextIO

from adk_agent.cli.terminal import say

_MB = 1_000_000
_LINE_EVERY_S = 10.0
_REDRAWN_EVERY_S = 0.2


class DownloadProgress:
    """Shows bytes as they come. Used as a context, which ends the line.

    Args:
        stream: Where it is shown.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._redraws = stream.isatty()
        self._shown_s = time.monotonic()
        self._open = False

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the line that was redrawn."""
        if self._open:
            say("", file=self._stream)

    def __call__(self, done: int, total: int | None) -> None:
        """Show how many bytes have come, unless that was shown just now."""
        now = time.monotonic()
        wait_s = _REDRAWN_EVERY_S if self._redraws else _LINE_EVERY_S
        if now - self._shown_s < wait_s and done != total:
            return
        self._shown_s = now
        text = f"{done / _MB:.1f} MB" + ("" if total is None else f" of {total / _MB:.1f}")
        if self._redraws:
            self._stream.write("\r")
            say(f"{text:<30}", file=self._stream, end="", flush=True)
            self._open = True
        else:
            say(f"greenroom: {text}", file=self._stream)
