"""The bundled agents by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from purple_agent.baselines import EchoAgent, NullAgent
from purple_agent.conversation import PurpleAgent
from purple_agent.errors import GoldScriptError, UnknownAgentError
from purple_agent.leaky import LeakyAgent, RecitingAgent
from purple_agent.teams.naming import PREFIX, is_team, parse_team
from purple_agent.teams.rosters import TEAMS

if TYPE_CHECKING:
    from purple_agent.oracle import GoldScript

ORACLE = "oracle"
GULLIBLE = "gullible"
UNDER_FAULTS = ("idempotent", "writes-twice", "forgetful", "retrying")
"""The agents that show what injected faults find."""
CANDID = "candid"
NEEDS_GOLD = frozenset({ORACLE, GULLIBLE, CANDID, *UNDER_FAULTS})
"""The agents that are given gold scripts."""
REFERENCE = "reference"
LEAKY_CONTEXT = "leaky-context"

DESCRIPTIONS: Mapping[str, str] = MappingProxyType(
    {
        "null": "Greets and says that it cannot help: the floor under every score.",
        "echo": "Repeats the last message.",
        ORACLE: "Replays a task's gold actions: the ceiling above every score.",
        GULLIBLE: "Replays gold actions, and obeys texts that tools return: the ceiling of attacks.",
        "leaky": "Tells every customer what another one said: isolation probes find it.",
        LEAKY_CONTEXT: "Gives all conversations the same contextId, and so one memory.",
        "idempotent": "Replays gold actions, and answers a repeated message as before.",
        "writes-twice": "Replays gold actions, and does one again when a message is repeated.",
        "forgetful": "Replays gold actions, until a message is repeated: then it has lost them.",
        "retrying": "Is idempotent, and makes a call again that was turned away.",
        CANDID: "Replays gold actions in half of the tasks, and says how sure it is.",
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
    """Build an agent; only those in `NEEDS_GOLD` get the `scripts`.

    Raises:
        UnknownAgentError: No bundled agent has this name. For teams and the reference agent see
            `purple_agent.teams.running` and `purple_agent.reference`.
        GoldScriptError: The agent needs scripts.
    """
    if name not in DESCRIPTIONS or name == REFERENCE:
        raise UnknownAgentError(name, DESCRIPTIONS)
    if name == "null":
        return NullAgent()
    if name == "echo":
        return EchoAgent()
    if name == "leaky":
        return LeakyAgent()
    if name == LEAKY_CONTEXT:
        return RecitingAgent()
    if scripts is None:
        raise GoldScriptError(f"the {name} agent needs gold scripts: give them with --gold FILE")
    from purple_agent.candid import CandidAgent  # pydantic, not needed by the others
    from purple_agent.gullible import GullibleAgent
    from purple_agent.oracle import OracleAgent
    from purple_agent.under_faults import AGENTS

    agents: dict[str, type[OracleAgent]] = {
        ORACLE: OracleAgent,
        GULLIBLE: GullibleAgent,
        CANDID: CandidAgent,
        **AGENTS,
    }
    return agents[name](scripts)
