"""Signals that come before anything listens for them.

Imports take a second or two. As the first process of a container this one would ignore SIGTERM
until somebody handles it, and SIGINT would end it in the midst of an import, with a traceback.
"""

import os
import signal
import sys
from types import FrameType


def end_by_signals() -> None:
    """End with a word and 128 + the signal's number from now on.

    What serves or plays handles SIGTERM itself, in place of this, and SIGINT after `interruptible`.
    """
    signal.signal(signal.SIGTERM, _end)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not where it is ignored
        signal.signal(signal.SIGINT, _end)


def interruptible() -> None:
    """Let SIGINT raise KeyboardInterrupt again, as event loops want it."""
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        sys.unraisablehook = _interrupt_again


def _interrupt_again(ignored: "sys.UnraisableHookArgs") -> None:
    """Repeat an interrupt that came while an object was finalised, where Python drops it."""
    if issubclass(ignored.exc_type, KeyboardInterrupt):
        import threading  # late, as nothing is handled before this module is imported

        # Later, and from elsewhere: raised at once, it would be dropped again.
        main = threading.main_thread().ident
        threading.Timer(0.01, signal.pthread_kill, (main, signal.SIGINT)).start()
    else:
        sys.__unraisablehook__(ignored)


def _end(number: int, _: FrameType | None) -> None:
    said = f"greenroom: ended by {signal.Signals(number).name}\n"
    os.write(2, said.encode())
    raise SystemExit(128 + number)
