"""Plays an agent at an A2A address with the official engine's own command.

In the environment of a checkout of tau2-bench, where Greenroom is installed beside it without its
dependencies (docs/official-engine.md):

    python -m tau_bridge.tau2.official_agent run --domain mock --agent a2a
        --agent-llm-args '{"url": "http://127.0.0.1:9010"}'

It registers the agent `a2a` and hands the arguments to `tau2`. The agent is told and asked as by
Greenroom itself: the same messages, the same reading of its replies.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from anyio.from_thread import start_blocking_portal

from tau_bridge.a2a.credentials import CredentialError, Credentials
from tau_bridge.a2a.limits import MessengerLimits
from tau_bridge.a2a.messenger import Messenger
from tau_bridge.clock import Runtime
from tau_bridge.errors import DataError
from tau_bridge.messages import AssistantMessage, parse_messages
from tau_bridge.recorder import TraceRecorder
from tau_bridge.wire_agent import WireAgent

if TYPE_CHECKING:
    from anyio.from_thread import BlockingPortal

NAME: Final = "a2a"
"""The name of the agent, for `--agent`."""
_SETTINGS: Final = ("url", "timeout_s", "token_env")


class Caller:
    """Calls agents from the engine's threads, over connections that live in one event loop.

    Args:
        portal: Of that loop.
    """

    def __init__(self, portal: BlockingPortal) -> None:
        self._portal = portal
        self._messengers: dict[str, Messenger] = {}
        self._traces = map(str, itertools.count(1))

    def open(self, settings: Mapping[str, Any] | None, policy: str, tools: Sequence[Any]) -> Talk:
        """Open a conversation with the agent that the settings name.

        Raises:
            DataError: The settings cannot be used.
        """
        talk: Talk = self._portal.call(self._open, checked(settings), policy, tools)
        return talk

    async def _open(self, settings: Mapping[str, Any], policy: str, tools: Sequence[Any]) -> Talk:
        key = json.dumps(settings, sort_keys=True)
        if key not in self._messengers:
            self._messengers[key] = _messenger(settings)
        url = settings["url"]
        # Its trace goes nowhere: the engine's own results hold the messages.
        recorder = TraceRecorder(next(self._traces), runtime=Runtime.system())
        conversation = self._messengers[key].conversation(url, recorder=recorder)
        side = WireAgent(conversation, address=url, policy=policy, tools=tools)
        return Talk(self._portal, side, conversation.aclose)

    def close(self) -> None:
        """Close all connections."""
        for each in self._messengers.values():
            self._portal.call(each.aclose)


class Talk:
    """One conversation with an agent, from whichever thread."""

    def __init__(self, portal: BlockingPortal, side: WireAgent, aclose: Callable[[], Any]) -> None:
        self._portal = portal
        self._side = side
        self._aclose = aclose

    def reply(self, incoming: Sequence[Mapping[str, Any]]) -> AssistantMessage:
        """Return the agent's next turn.

        Args:
            incoming: What it has not seen, as records of the official format.

        Raises:
            tau_bridge.errors.AgentError: There is none.
        """
        return self._portal.call(self._side.reply, parse_messages(incoming)).message

    def close(self) -> None:
        """End the conversation."""
        self._portal.call(self._aclose)


def checked(settings: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the settings of an agent, as `--agent-llm-args` gives them.

    Raises:
        DataError: There is no address, or a setting that nobody knows.
    """
    given = dict(settings or {})
    given.pop("temperature", None)  # the engine's default, where nothing is given
    unknown = [name for name in given if name not in _SETTINGS]
    url = given.get("url")
    if unknown or not isinstance(url, str) or not url.startswith(("http://", "https://")):
        what = f"unknown {unknown[0]!r}" if unknown else f"'url' is {url!r}"
        raise DataError(
            f"--agent-llm-args: {what}; write an object with the agent's address, such as "
            '{"url": "http://127.0.0.1:9010"}, and if need be "timeout_s" and "token_env", the '
            "name of the variable with its bearer token"
        )
    return given


def _messenger(settings: Mapping[str, Any]) -> Messenger:
    limits = MessengerLimits(timeout_s=float(settings.get("timeout_s", 300.0)))
    variable = settings.get("token_env")
    if variable is None:
        return Messenger(limits=limits)
    try:
        # The engine writes its arguments into its results, so that no token may stand there.
        credentials = Credentials.of_bearer(os.environ.get(variable, ""))
    except CredentialError as error:
        raise DataError(f"the variable {variable} holds no bearer token: {error}") from error
    return Messenger(limits=limits, credentials={settings["url"]: credentials})


def register(caller: Caller) -> None:
    """Register the agent with the official engine."""
    from tau2.agent.base_agent import HalfDuplexAgent
    from tau2.data_model.message import AssistantMessage as Said
    from tau2.data_model.message import ToolCall
    from tau2.registry import registry

    class A2AAgent(HalfDuplexAgent):  # type: ignore[misc]  # it has no types
        def __init__(self, tools: list[Any], policy: str, settings: Any) -> None:
            super().__init__(tools=tools, domain_policy=policy)
            self._talk = caller.open(settings, policy, [tool.openai_schema for tool in tools])

        def set_seed(self, seed: int) -> None:
            """Draw nothing."""

        def get_init_state(self, message_history: list[Any] | None = None) -> list[Any]:
            """Return what the agent has not seen yet."""
            return list(message_history or [])

        def generate_next_message(self, message: Any, state: list[Any]) -> tuple[Any, list[Any]]:
            """Ask the agent for its next turn."""
            unseen = [each.model_dump(mode="json", exclude_none=True) for each in (*state, message)]
            reply = self._talk.reply(unseen)
            calls = [ToolCall(**call.model_dump()) for call in reply.tool_calls or ()]
            said = Said(role="assistant", content=reply.content, tool_calls=calls or None, cost=0.0)
            return said, []

        def stop(self, *_: Any) -> None:
            """End the conversation with the agent."""
            self._talk.close()

    def create(tools: list[Any], domain_policy: str, **others: Any) -> A2AAgent:
        return A2AAgent(tools, domain_policy, others.get("llm_args"))

    registry.register_agent_factory(create, NAME)


def main(arguments: Sequence[str] | None = None) -> None:
    """Hand the arguments to `tau2`, which knows the agent then."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if any(each.split("=")[0] == "--workers" for each in given):
        sys.exit(
            "official_agent: --workers starts processes that do not know the agent: leave it out"
        )
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    for flag in ("--agent", "--agent-llm", "--agent-llm-args"):
        parser.add_argument(flag)
    known, _ = parser.parse_known_args(given)
    if known.agent == NAME:
        try:
            checked(json.loads(known.agent_llm_args or "{}"))
        except (DataError, ValueError, TypeError) as error:
            sys.exit(f"official_agent: {error}")
        if known.agent_llm is None:
            given += ["--agent-llm", NAME]  # else results name the default model as the agent's
    try:
        from tau2 import cli
    except ImportError as error:
        sys.exit(
            f"official_agent: {sys.executable!r} cannot import tau2 ({error}): run this by the "
            "interpreter of an environment in which tau2-bench is installed"
        )
    with start_blocking_portal() as portal:
        caller = Caller(portal)
        try:
            register(caller)
            sys.argv = ["tau2", *given]
            cli.main()
        finally:
            caller.close()


if __name__ == "__main__":
    main()
