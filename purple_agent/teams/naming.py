"""Names such as `team:star5+fail:orders@0.5`: a team and its faults. Pure."""

from __future__ import annotations

import dataclasses
import hashlib
import re
from collections.abc import Iterable

from purple_agent.errors import TeamNameError, nearest
from purple_agent.teams.plan import Fault, FaultKind, Team
from purple_agent.teams.rosters import TEAMS

PREFIX = "team:"
_FAULT = re.compile(r"([^:@]*):([^:@]*)(?:@(.*))?")
_DRAWS = 2**64


def is_team(name: str) -> bool:
    """Tell whether a name means a team, known or not."""
    return name.startswith(PREFIX)


def parse_team(name: str) -> Team:
    """Return the team of a name, with the faults that the name adds to its own.

    Raises:
        TeamNameError: The team, a member or a fault does not exist; the message suggests names.
    """
    plain, *faults = name.removeprefix(PREFIX).split("+")
    if plain not in TEAMS:
        raise TeamNameError(f"unknown team {plain!r} in {name!r}: {nearest(plain, TEAMS)}")
    team = TEAMS[plain]
    added = tuple(_fault(text, team, name) for text in faults)
    return dataclasses.replace(team, faults=(*team.faults, *added))


def strikes(faults: Iterable[Fault], *, seed: int, member: str, number: int) -> set[FaultKind]:
    """Return the kinds of faults that hit a call to a member.

    Args:
        faults: The team's faults.
        seed: The seed of the team's run.
        member: The called member.
        number: The number of the call to this member, from 1.

    Returns:
        The kinds; always the same for the same arguments.
    """
    return {
        fault.kind
        for fault in faults
        if fault.member == member and _draw(seed, fault.kind, member, number) < fault.share
    }


def _draw(seed: int, kind: FaultKind, member: str, number: int) -> float:
    """Return a pseudorandom number from 0 up to, but not including, 1."""
    drawn = hashlib.blake2s(f"{seed}/{kind}/{member}/{number}".encode(), digest_size=8).digest()
    return min(int.from_bytes(drawn) / _DRAWS, 1 - 2**-53)


def _fault(text: str, team: Team, name: str) -> Fault:
    parts = _FAULT.fullmatch(text)
    if parts is None:
        raise TeamNameError(
            f"cannot read {text!r} in {name!r}: write +KIND:MEMBER or +KIND:MEMBER@SHARE, "
            f"with {', '.join(FaultKind)} as KIND"
        )
    kind, member, share = parts.groups()
    if kind not in set(FaultKind):
        raise TeamNameError(f"unknown fault {kind!r} in {name!r}: {nearest(kind, FaultKind)}")
    if member not in team.roster:
        raise TeamNameError(
            f"unknown member {member!r} of team {team.name!r} in {name!r}: "
            f"{nearest(member, team.roster)}"
        )
    return Fault(kind=FaultKind(kind), member=member, share=_share(share, name))


def _share(text: str | None, name: str) -> float:
    if text is None:
        return 1.0
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise TeamNameError(f"a share is a number from 0 to 1, got {text!r} in {name!r}")
    return share
