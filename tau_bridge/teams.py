"""The bundled teams of agents, and what is known to be true of each."""

from __future__ import annotations

from functools import cache
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from tau_bridge.bundled_data import bundled_json
from tau_bridge.errors import DataError

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


_TEAMS: TypeAdapter[tuple[Team, ...]] = TypeAdapter(tuple[Team, ...])


@cache
def teams() -> dict[str, Team]:
    """Return the bundled teams by name, in their order.

    Raises:
        DataError: the bundled file cannot be used.
    """
    try:
        found = _TEAMS.validate_python(bundled_json("teams.json")["teams"])
    except (ValidationError, KeyError, TypeError) as exc:
        raise DataError(f"the bundled teams cannot be read: {exc}") from exc
    return {team.name: team for team in found}
