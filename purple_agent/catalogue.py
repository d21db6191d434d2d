"""The bundled agents by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from purple_agent.baselines import EchoAgent, NullAgent
from purple_agent.conversation import PurpleAgent
from purple_agent.errors import GoldScriptError, UnknownAgentError
from purple_agent.teams.naming import PREFIX, is_team, parse_team
from purple_agent.teams.rosters import TEAMS

if TYPE_CHECKING:
    from purple_agent.oracle import GoldScript

ORACLE = "oracle"
REFERENCE = "reference"

DESCRIPTIONS: Mapping[str, str] = MappingProxyType(
    {
        "null": "Greets and says that it cannot help: the floor under every score.",
        "echo": "Says back what it was told last.",
        ORACLE: "Replays a task's gold actions: the ceiling above every score.",
        REFERENCE: "A business-process agent in ten stages, with a language model or without.",
    }
)
"""The description of each bundled agent, in one line."""


def listing() -> dict[str, str]:
    """List the agents and teams, each with one line."""
    teams = {f"{PREFIX}{name}": team.description for name, team in TEAMS.items()}
    return {**DESCRIPTIONS, **teams}


def check_name(name: str) -> None:
    """Refuse a name that no bundled agent or team has.

    Raises:
        UnknownAgentError: with the nearest names.
        TeamNameError: a team, or a fault behind it, that there is not.
    """
    if is_team(name):
        parse_team(name)
    elif name not in DESCRIPTIONS:
        raise UnknownAgentError(name, listing())


def build_agent(name: str, *, scripts: Mapping[str, GoldScript] | None = None) -> PurpleAgent:
    """Build an agent; `scripts` is what the oracle knows, and goes to nobody else.

    Raises:
        UnknownAgentError: no bundled agent has this name. Neither a team nor the reference agent
            is one in this sense: see `purple_agent.teams.running`, `purple_agent.reference`.
        GoldScriptError: the oracle was asked for without scripts.
    """
    if name not in DESCRIPTIONS or name == REFERENCE:
        raise UnknownAgentError(name, DESCRIPTIONS)
    if name == "null":
        return NullAgent()
    if name == "echo":
        return EchoAgent()
    if scripts is None:
        raise GoldScriptError("the oracle knows nothing by itself: give it scripts by --gold FILE")
    from purple_agent.oracle import OracleAgent  # pydantic, not needed by the others

    return OracleAgent(scripts)
