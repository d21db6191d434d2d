"""Credentials of agents, as flags and the configuration file name them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from adk_agent.cli.config import credentials_in
from adk_agent.cli.flags import read_token
from adk_agent.core.errors import RequestError
from adk_agent.core.plan import EvaluationPlan, Participant
from adk_agent.core.settings import Settings
from adk_agent.requests.agents import agent_key
from adk_agent.requests.config_file.reading import LoadedConfig
from adk_agent.requests.credentials import parse_credential, read_all
from adk_agent.requests.registry import AgentRegistry
from tau_bridge.a2a.credentials import NONE, Credentials


def given_credentials(parsed: argparse.Namespace) -> Credentials:
    """Return the credentials that the flags name."""
    given = NONE if parsed.token is None else Credentials.of_bearer(read_token(parsed.token))
    sources = [parse_credential(each.rpartition(" ")[2]) for each in parsed.credential]
    return given | read_all(sources, parsed.agent)


def credentials_of(
    parsed: argparse.Namespace,
    plan: EvaluationPlan,
    config: LoadedConfig | None,
    settings: Settings,
) -> dict[str, Credentials]:
    """Return what a plan's agents are sent, by address: as the flags say, or else the file.

    Raises:
        PreflightError: A credential that the file names is not there.
        RequestError: A flag names none, or an agent that is not in the plan.
    """
    everyone = plan.members or plan.participants
    remote = [each for each in everyone if each.builtin is None]
    found: dict[str, Credentials] = {}
    if parsed.token is not None:
        bearer = Credentials.of_bearer(read_token(parsed.token))
        found = {each.address: bearer for each in remote}
    elif config is not None:
        found = credentials_in(config, plan, AgentRegistry(settings.results_dir).addresses())
    for given in parsed.credential:
        agent, _, named = given.rpartition(" ")
        address = _one_of(remote, agent.strip()).address
        source = parse_credential(named)
        found[address] = found.get(address, NONE) | source.read(address)
    return found


def _one_of(remote: Sequence[Participant], agent: str) -> Participant:
    """Return the agent that a credential is for."""
    if not agent:
        meant = remote
    else:
        meant = [each for each in remote if agent in (each.role, each.address)]
        if not meant and "://" in agent:
            key = agent_key(agent)
            meant = [each for each in remote if agent_key(each.address) == key]
    if len(meant) == 1:
        return meant[0]
    known = ", ".join(each.address for each in remote) or "none at an address"
    raise RequestError(
        f"--credential: no single agent is meant{f' by {agent!r}' if agent else ''}; write"
        f" 'AGENT NAME=VARIABLE', with one of the request's agents: {known}"
    )
