"""`greenroom.toml` behind the flags of `greenroom run`: what no flag says, the file may say."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path

from adk_agent.cli.terminal import say
from adk_agent.core.errors import RequestError
from adk_agent.core.plan import BUILTIN_PREFIX, EvaluationPlan
from adk_agent.play.stop_rule import parse_stop_rule
from adk_agent.requests.agent_tokens import TokenSource
from adk_agent.requests.agents import BUNDLED_AGENTS, agent_key, parse_address
from adk_agent.requests.config_file.model import FILE, AgentEntry
from adk_agent.requests.config_file.reading import LoadedConfig, read_config
from adk_agent.requests.credentials import parse_credential, read_all
from adk_agent.requests.refusal import Refusal
from adk_agent.requests.registered import address_of
from adk_agent.requests.spelling import did_you_mean
from tau_bridge.a2a.credentials import NONE, Credentials


def add_config(parser: argparse.ArgumentParser) -> None:
    """Add the flag for the configuration file."""
    parser.add_argument(
        "--config",
        metavar="FILE",
        help=f"what to evaluate, in place of a sentence (default {FILE}, if it is there)",
    )


def config_of(parsed: argparse.Namespace) -> LoadedConfig | None:
    """Read the configuration file of a command, and name it; None if there is none.

    A sentence says everything itself, so with one no file is read.

    Raises:
        RequestError: The file cannot be used, or is named beside a sentence.
        StorageError: It cannot be read.
    """
    if parsed.request is not None:
        if parsed.config is not None:
            raise RequestError(
                'write a sentence or --config, not both; the file may hold it: request = "..."'
            )
        return None
    path = Path(FILE if parsed.config is None else parsed.config)
    if parsed.config is None and not path.exists():
        return None
    config = read_config(path)
    stream = sys.stderr if parsed.json else sys.stdout
    say(f"reading {path}", file=stream, flush=True)
    return config


def with_config(parsed: argparse.Namespace, config: LoadedConfig) -> argparse.Namespace:
    """Return the arguments with what the file says wherever no flag says otherwise.

    Agents and tasks are not among them: see `adk_agent.cli.chosen`.

    Raises:
        RequestError: The rule that ends the run early cannot be parsed.
    """
    content = config.content
    rule = content.gates.stop_when
    if rule is not None:
        try:
            parse_stop_rule(rule)
        except RequestError as error:
            raise config.error(("gates", "stop_when"), str(error)) from error
    given = vars(parsed)
    filled = {
        "request": content.request,
        "num_trials": content.trials,
        "max_concurrency": content.max_concurrency,
        "seed": content.seed,
        "max_steps": content.max_steps,
        "chaos": None if content.chaos is None else content.chaos.text,
        "retry_user": content.retry_user,
        "timeout": content.timeout_s,
        "otlp_port": content.otlp_port,
        "otlp_grace": content.otlp_grace_s,
        "model": content.models.default,
        "user_model": content.models.user,
        "judge_model": content.models.judge,
        "embedding_model": content.models.embedding,
        "fail_under": content.gates.fail_under,
        "fail_under_faults": content.gates.fail_under_faults,
        "stop_when": rule,
        "max_cost": content.gates.max_cost,
        "max_tokens": content.gates.max_tokens,
    }
    missing = {name: value for name, value in filled.items() if given[name] is None}
    options = [(name, json.dumps(value, default=str)) for name, value in content.options.items()]
    return argparse.Namespace(
        **{
            **given,
            **missing,
            "offline": parsed.offline or content.offline,
            "judge_user": parsed.judge_user or content.judge_user,
            "isolation": parsed.isolation or content.isolation,
            "fail_on_repeated_writes": parsed.fail_on_repeated_writes
            or content.gates.fail_on_repeated_writes,
            "confidence": parsed.confidence or content.confidence,
            "option": [*options, *(parsed.option or ())] or None,
        }
    )


def agents_of(parsed: argparse.Namespace, config: LoadedConfig | None) -> tuple[AgentEntry, ...]:
    """Return the agents of the flags, or else of the file."""
    if parsed.agent is not None:
        return tuple(AgentEntry(address=each) for each in dict.fromkeys(parsed.agent))
    return () if config is None else config.content.agents


def address_in_form(
    agent: AgentEntry,
    registered: Mapping[str, str],
    config: LoadedConfig | None,
) -> str:
    """Return an agent's address in normal form; one that comes with a name is given by it.

    Args:
        agent: The agent.
        registered: The addresses of registered agents, by name.
        config: The file that the agent stands in; None for a flag.

    Raises:
        RequestError: It has no address.
    """
    try:
        return agent_address(agent.address, registered)
    except RequestError as error:
        if config is None:
            raise RequestError(f"--agent: {error}") from error
        index = config.content.agents.index(agent)
        raise config.error(("agents", index, "address"), str(error)) from error


def agent_address(given: str, registered: Mapping[str, str]) -> str:
    """Return the address in normal form of an agent, by its address or its name.

    Args:
        given: An address, or the name of a registered or a bundled agent.
        registered: The addresses of registered agents, by name.

    Raises:
        RequestError: It is no address, and no agent has this name.
    """
    if given in BUNDLED_AGENTS:
        return BUILTIN_PREFIX + given
    try:
        return parse_address(address_of(given, registered))
    except Refusal as refusal:
        if not re.fullmatch(r"[A-Za-z][\w-]*", given):
            raise
        known = did_you_mean(given, [*BUNDLED_AGENTS, *registered]).removesuffix(".")
        raise RequestError(
            f"there is no agent {given!r}: {known}{'' if known.endswith('?') else '.'} "
            "Or write its address: http://..."
        ) from refusal


def credentials_in(
    config: LoadedConfig, plan: EvaluationPlan, registered: Mapping[str, str]
) -> dict[str, Credentials]:
    """Return the credentials that the file names, by the addresses of the plan's agents.

    Raises:
        PreflightError: One is not there; the message names the variable or the file.
        RequestError: One is not written as credentials are.
    """
    everyone = plan.members or plan.participants
    remote = {agent_key(each.address): each.address for each in everyone if each.builtin is None}
    found = {}
    for agent in config.content.agents:
        source = _token_source(agent, config)
        if source == TokenSource() and not agent.credentials:
            continue
        address = remote.get(agent_key(address_in_form(agent, registered, config)))
        if address is None:
            continue
        name = agent.name or agent.address
        token = source.read(name)
        others = [parse_credential(each, base=config.beside(".")) for each in agent.credentials]
        bearer = NONE if token is None else Credentials.of_bearer(token)
        found[address] = bearer | read_all(others, name)
    return found


def _token_source(agent: AgentEntry, config: LoadedConfig) -> TokenSource:
    """Return where the bearer token of an agent of the file is read from."""
    path = None if agent.token_file is None else str(config.beside(agent.token_file).absolute())
    return TokenSource(token_env=agent.token_env, token_file=path)
