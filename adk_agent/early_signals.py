"""Signals that come before anything listens for them.

Imports take a second or two. As the first process of a container this one would ignore SIGTERM
until somebody handles it. What serves or plays has handlers of its own, which replace these.
"""

import os
import signal
from types import FrameType


def end_by_signals() -> None:
    """End with a word and 128 + the signal's number from now on, until others handle signals."""
    signal.signal(signal.SIGTERM, _end)


def _end(number: int, _: FrameType | None) -> None:
    said = f"greenroom: ended by {signal.Signals(number).name}\n"
    os.write(2, said.encode())
    raise SystemExit(128 + number)
