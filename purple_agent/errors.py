"""The errors of this package, and the exit code that each one means.

PurpleAgentError
├── UsageError              what was asked for cannot be used      (exit 2)
│   ├── UnknownAgentError
│   └── GoldScriptError
├── ListenError             an address cannot be listened on       (exit 3)
└── RejectedError           an agent will not play a conversation  (the A2A task is rejected)
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class PurpleAgentError(Exception):
    """Base of everything that this package raises on purpose."""

    exit_code = 3


class UsageError(PurpleAgentError):
    """What was asked for cannot be used. The message says what to change."""

    exit_code = 2


class UnknownAgentError(UsageError):
    """No bundled agent has this name."""

    def __init__(self, name: str, known: Iterable[str]) -> None:
        self.name = name
        super().__init__(f"unknown agent {name!r}: {nearest(name, known)}")


class GoldScriptError(UsageError):
    """The oracle's gold scripts are missing or are not in the expected form."""


class ListenError(PurpleAgentError):
    """An address cannot be listened on."""


class RejectedError(PurpleAgentError):
    """An agent will not play this conversation. The message goes to the caller."""


def nearest(value: str, known: Iterable[str]) -> str:
    """What to try instead of `value`: the nearest of the known names, or the first ten."""
    names = sorted(known)
    near = difflib.get_close_matches(value, names, n=3, cutoff=0.4)
    if near:
        return f"did you mean {', '.join(repr(name) for name in near)}?"
    shown = ", ".join(repr(name) for name in names[:10])
    return f"known: {shown}{' ...' if len(names) > 10 else ''}"
