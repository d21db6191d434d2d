"""Team: the definition of a reference team, with its members and the calls between them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

OUTSIDE = "user"
"""The caller in a script who is not a member: the user, or an assessor in that role."""


class FaultKind(StrEnum):
    """A kind of failure of a member."""

    FAIL = "fail"
    """Its A2A task fails."""
    SLOW = "slow"
    """The member waits before it does anything."""
    DROP = "drop"
    """The member closes the connection without an answer."""


@dataclass(frozen=True, kw_only=True)
class Fault:
    """A fault of one member, in a share of the calls that it receives, 0 to 1."""

    kind: FaultKind
    member: str
    share: float = 1.0


@dataclass(frozen=True, kw_only=True)
class Ask:
    """One call of a member's script."""

    callee: str
    verbatim: bool = False
    """Pass the exercise on verbatim. Otherwise the text starts with a line about this call, so that
    no two calls of a conversation are the same."""
    max_hops: int | None = None
    """Leave the call out if it would be deeper than this below the user's message."""


@dataclass(frozen=True, kw_only=True)
class Member:
    """One agent of a team."""

    name: str
    skills: tuple[str, ...] = ()
    """Names of `purple_agent.teams.skills.SKILLS`, in the order in which they are used."""
    discreet: bool = False
    """Do not report callees that failed."""


@dataclass(frozen=True, kw_only=True)
class Team:
    """A reference team.

    `script` has the calls that a member makes when a caller (or `OUTSIDE`) calls it; without an
    entry it makes none. `labels` and `findings` are the correct results of the assessor's graph
    tier.
    """

    name: str
    description: str
    entry: str
    members: tuple[Member, ...]
    script: Mapping[tuple[str, str], tuple[Ask, ...]]
    faults: tuple[Fault, ...] = ()
    labels: tuple[str, ...]
    findings: tuple[str, ...] = ()

    @property
    def roster(self) -> tuple[str, ...]:
        """Return the members' names."""
        return tuple(member.name for member in self.members)
