"""The errors of this package and their exit codes.

PurpleAgentError
├── UsageError              an argument or a file is invalid       (exit 2)
│   ├── UnknownAgentError
│   ├── TeamNameError       `team:...` names an unknown team or fault
│   ├── WiringError         the peers' addresses are not in the expected form
│   ├── GoldScriptError
│   └── CaseLogError        a file of remembered cases cannot be read or written
├── ListenError             cannot listen on an address            (exit 3)
├── CaseMemoryError         the case memory cannot be used         (exit 3; a flag while serving)
├── RejectedError           an agent refuses a conversation        (the A2A task is rejected)
├── MemberFailedError       a member of a team fails on purpose    (the A2A task fails)
├── ToolsUnavailableError   tools cannot be listed                 (recorded; shown to the caller)
└── PeerFailedError         a member got no answer from another    (recorded; the caller continues)
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class PurpleAgentError(Exception):
    """Base class of the errors that this package raises on purpose."""

    exit_code = 3


class UsageError(PurpleAgentError):
    """An argument or a file is invalid. The message says what to change."""

    exit_code = 2


class UnknownAgentError(UsageError):
    """No bundled agent has this name."""

    def __init__(self, name: str, known: Iterable[str]) -> None:
        self.name = name
        super().__init__(f"unknown agent {name!r}: {nearest(name, known)}")


class TeamNameError(UsageError):
    """The name of a team or of one of its faults is invalid."""


class WiringError(UsageError):
    """The peers' addresses are not in the expected form."""


class GoldScriptError(UsageError):
    """The oracle's gold scripts are missing or are not in the expected form."""


class ListenError(PurpleAgentError):
    """The server cannot listen on an address."""


class RejectedError(PurpleAgentError):
    """An agent refuses this conversation. The message goes to the caller."""


class MemberFailedError(PurpleAgentError):
    """A member of a team fails on purpose. The message goes to its caller."""


class PeerFailedError(PurpleAgentError):
    """A member of a team got no answer from another. The message says why."""


def nearest(value: str, known: Iterable[str]) -> str:
    """Suggest the nearest known names for `value`, or list the first ten."""
    names = sorted(map(str, known))
    near = difflib.get_close_matches(value, names, n=3, cutoff=0.4)
    if near:
        return f"did you mean {', '.join(repr(name) for name in near)}?"
    shown = ", ".join(repr(name) for name in names[:10])
    return f"known: {shown}{' ...' if len(names) > 10 else ''}"


class ToolsUnavailableError(PurpleAgentError):
    """A tools endpoint is not allowed, unreachable or unusable. The message may be shown."""
