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
        "echo": "Repeats the last message.",
        ORACLE: "Replays a task's gold actions: the ceiling above every score.",
        REFERENCE: "A business-process agent in ten stages, with a language model or without.",
    }
)
"""The description of each bundled agent, in one line."""


def listing() -> dict[str, str]:
    """Return a one-line description of each agent and team."""
    teams = {f"{PREFIX}{name}": team.description for name, team in TEAMS.items()}
    return {**DESCRIPTIONS, **teams}


def check_name(name: str) -> None:
    """Refuse a name that is not a bundled agent or team.

    Raises:
        UnknownAgentError: No agent has this name; the message suggests the nearest.
        TeamNameError: The team or one of its faults does not exist.
    """
    if is_team(name):
        parse_team(name)
    elif name not in DESCRIPTIONS:
        raise UnknownAgentError(name, listing())


def build_agent(name: str, *, scripts: Mapping[str, GoldScript] | None = None) -> PurpleAgent:
    """Build an agent; only the oracle gets the `scripts`.

    Raises:
        UnknownAgentError: No bundled agent has this name. For teams and the reference agent see
            `purple_agent.teams.running` and `purple_agent.reference`.
        GoldScriptError: The oracle needs scripts.
    """
    if name not in DESCRIPTIONS or name == REFERENCE:
        raise UnknownAgentError(name, DESCRIPTIONS)
    if name == "null":
        return NullAgent()
    if name == "echo":
        return EchoAgent()
    if scripts is None:
        raise GoldScriptError("the oracle needs gold scripts: give them with --gold FILE")
    from purple_agent.oracle import OracleAgent  # pydantic, not needed by the others

    return OracleAgent(scripts)
