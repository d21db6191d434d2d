"""The bundled teams of agents, and what is known to be true of each."""

from __future__ import annotations

from functools import cache
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from tau_bridge.bundled_data import bundled_records

_Text = Annotated[str, Field(min_length=1)]


class Team(BaseModel):
    """A bundled team of agents: who belongs to it, and what is known to be true of it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: _Text
    description: _Text
    entry: _Text
    """The member that answers for the team."""
    members: tuple[_Text, ...]
    labels: tuple[_Text, ...]
    """The labels that the graph tier must give it."""
    findings: tuple[_Text, ...] = ()


@cache
def teams() -> dict[str, Team]:
    """Return the bundled teams by name, in their order.

    Raises:
        DataError: The bundled file cannot be used.
    """
    return {team.name: team for team in bundled_records("teams", Team)}
