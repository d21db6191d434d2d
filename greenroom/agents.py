"""The agents that a caller gives: addresses, names, ASGI applications and functions."""

from __future__ import annotations

import inspect
import re
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from adk_agent.core.errors import PreflightError, RequestError
from adk_agent.core.plan import Participant
from adk_agent.requests.agents import BUNDLED_AGENTS, parse_address, with_roles
from adk_agent.requests.spelling import did_you_mean
from greenroom.calling import FunctionCaller
from tau_bridge.a2a.in_process import PYTHON_PREFIX
from tau_bridge.a2a.lifespan import running
from tau_bridge.a2a.messenger import Messenger
from tau_bridge.errors import AgentError

if TYPE_CHECKING:
    from starlette.types import ASGIApp

Agent = str | Callable[..., Any]
Agents = Agent | Iterable[Agent] | Mapping[str, Agent]

_ASGI = ("scope", "receive", "send")
_UNUSABLE = re.compile(r"[^A-Za-z0-9_.-]+")
_MOST_SHOWN = 80
ACCEPTED = (
    "an address, a registered or bundled name, a function of one message (and, if it likes, the "
    "conversation's id), or an ASGI application; or several of them, in a list or by name"
)


@dataclass(frozen=True, kw_only=True)
class OpenAgents:
    """Agents that can be called now."""

    participants: tuple[Participant, ...]
    apps: Mapping[str, ASGIApp] = field(default_factory=dict)
    """The applications among them, by their addresses."""


@dataclass(frozen=True, kw_only=True)
class _Given:
    name: str | None
    agent: Agent
    kind: str


@asynccontextmanager
async def opened(
    agents: Agents, *, registered: Mapping[str, str], timeout_s: float
) -> AsyncGenerator[OpenAgents]:
    """Check the agents, start the applications among them, and yield all.

    Args:
        agents: As `greenroom.aevaluate` takes them.
        registered: Addresses of registered agents by name.
        timeout_s: The seconds that an application may take to start.

    Raises:
        RequestError: One cannot be an agent.
        PreflightError: An application does not start.
    """
    given = [_checked(name, each) for name, each in _several(agents)]
    addresses: list[str] = []
    apps: dict[str, ASGIApp] = {}
    async with AsyncExitStack() as stack:
        for each in given:
            if isinstance(each.agent, str):
                addresses.append(_address(each.agent, registered))
                continue
            try:
                app = await _app(each, stack, timeout_s)
                address = _distinct(each.name or await _shown_name(each, app), apps)
            except AgentError as exc:
                raise PreflightError(f"an agent is not ready: {exc}") from exc
            apps[address] = app
            addresses.append(address)
        yield OpenAgents(participants=_participants(given, addresses), apps=apps)


def _several(agents: object) -> list[tuple[str | None, object]]:
    if isinstance(agents, Mapping):
        return [(_checked_name(name), agent) for name, agent in agents.items()]
    if isinstance(agents, str) or callable(agents):
        return [(None, agents)]
    if isinstance(agents, Iterable):
        return [(None, agent) for agent in agents]
    raise RequestError(f"agent is {_shown(agents)}: give {ACCEPTED}")


def _checked_name(name: object) -> str:
    if isinstance(name, str) and _slug(name):
        return name
    raise RequestError(f"{_shown(name)} cannot be an agent's name: use letters and digits")


def _checked(name: str | None, agent: object) -> _Given:
    if isinstance(agent, str):
        return _Given(name=name, agent=agent, kind="address")
    if not callable(agent) or inspect.isclass(agent):
        hint = "an instance of the class, " if inspect.isclass(agent) else ""
        raise RequestError(f"agent is {_shown(agent)}: give {hint}{ACCEPTED}")
    return _Given(name=name, agent=agent, kind=_kind(agent))


def _kind(agent: Callable[..., Any]) -> str:
    """Tell by its parameters what a callable is.

    Raises:
        RequestError: It takes neither a message, nor what ASGI applications take.
    """
    try:
        parameters = inspect.signature(agent).parameters.values()
    except (TypeError, ValueError):  # some written in C do not say
        return "function"
    required = [each for each in parameters if each.default is each.empty]
    positional = [
        each
        for each in parameters
        if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)
    ]
    needed = [each for each in positional if each in required]
    keywords = [each.name for each in required if each.kind is inspect.Parameter.KEYWORD_ONLY]
    any_number = any(each.kind is inspect.Parameter.VAR_POSITIONAL for each in parameters)
    is_function = inspect.isroutine(agent)
    if len(needed) == 3 and (not is_function or tuple(each.name for each in needed) == _ASGI):
        return "app"
    if keywords or len(needed) > 2 or not (positional or any_number):
        raise RequestError(
            f"agent is {_shown(agent)}, which takes {inspect.signature(agent)}: a function takes "
            "(message) or (message, conversation), an ASGI application (scope, receive, send)"
        )
    return "conversation function" if len(needed) == 2 else "function"


async def _app(given: _Given, stack: AsyncExitStack, timeout_s: float) -> ASGIApp:
    assert not isinstance(given.agent, str)  # noqa: S101 - for the type checker
    if given.kind == "app":
        name = given.name or "the ASGI application"
        return await stack.enter_async_context(running(given.agent, name=name, timeout_s=timeout_s))
    from greenroom.function_app import function_app  # the SDK's server takes a while to import

    name = given.name or _own_name(given.agent)
    takes_conversation = given.kind == "conversation function"
    caller = FunctionCaller(given.agent, name=name, takes_conversation=takes_conversation)
    return function_app(caller, name=name)


async def _shown_name(given: _Given, app: ASGIApp) -> str:
    """Return a function's own name, or the one on an application's card.

    Raises:
        AgentError: The application has no usable card.
    """
    if given.kind != "app":
        return _own_name(given.agent)
    address = f"{PYTHON_PREFIX}app"
    messenger = Messenger(apps={address: app})
    try:
        return (await messenger.card(address)).name
    finally:
        await messenger.aclose()


def _own_name(agent: object) -> str:
    while hasattr(agent, "func"):  # functools.partial
        agent = agent.func
    name = getattr(agent, "__name__", type(agent).__name__)
    return "function" if name == "<lambda>" else str(name)


def _slug(name: str) -> str:
    return _UNUSABLE.sub("-", name).strip("-.")[:_MOST_SHOWN]


def _distinct(name: str, taken: Iterable[str]) -> str:
    """Return an address for the name, with a number if another agent has it."""
    base = f"{PYTHON_PREFIX}{_slug(name) or 'agent'}"
    known = {each.lower() for each in taken}
    address, number = base, 2
    while address.lower() in known:
        address, number = f"{base}-{number}", number + 1
    return address


def _address(agent: str, registered: Mapping[str, str]) -> str:
    named = {name: f"builtin:{name}" for name in BUNDLED_AGENTS} | dict(registered)
    if agent in named:
        return named[agent]
    if set(":/.").isdisjoint(agent):  # a name
        raise RequestError(
            f"there is no agent {agent!r}: {did_you_mean(agent, named)} (or give its address, for "
            "example 'http://localhost:9010')"
        )
    return parse_address(agent)


def _participants(given: Sequence[_Given], addresses: Sequence[str]) -> tuple[Participant, ...]:
    return tuple(
        each if one.name is None else each.model_copy(update={"role": one.name})
        for one, each in zip(given, with_roles(addresses), strict=True)
    )


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]} ..."
