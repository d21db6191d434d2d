"""Agent, user and judge of a conversation: whoever speaks is asked of the assessor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .link import JsonObject, Link


def agent_of(link: Link, policy: str, *, solo: bool) -> Any:
    """Return an agent whose turns are asked of the assessor."""
    from tau2.agent.base_agent import HalfDuplexAgent
    from tau2.agent.llm_agent import LLMSoloAgent
    from tau2.data_model.message import AssistantMessage

    # The official engine plays without a user with agents of this class alone.
    base: Any = LLMSoloAgent if solo else HalfDuplexAgent

    class RemoteAgent(base):  # type: ignore[misc]  # it has no types
        def __init__(self) -> None:
            HalfDuplexAgent.__init__(self, tools=[], domain_policy=policy)

        def set_seed(self, seed: int) -> None:
            """Draw nothing."""

        def get_init_state(self, message_history: list[Any] | None = None) -> list[Any]:
            """Return what the agent has not seen yet."""
            return list(message_history or [])

        def generate_next_message(self, message: Any, state: list[Any]) -> tuple[Any, list[Any]]:
            """Ask for the next turn."""
            reply = link.ask("agent_turn", messages=_unseen(state, message))
            return _spoken(AssistantMessage, "assistant", reply), []

    return RemoteAgent()


def user_of(link: Link, order: JsonObject, task: Any, environment: Any) -> Any:
    """Return the user."""
    from tau2.data_model.message import UserMessage
    from tau2.runner.build import build_user
    from tau2.user.user_simulator import DummyUser
    from tau2.user.user_simulator_base import HalfDuplexUser

    if order["solo"]:
        return DummyUser()
    if order["user_model"] is not None:
        answer_by_assessor(link)
        return build_user("user_simulator", environment, task, llm=order["user_model"])

    class RemoteUser(HalfDuplexUser):  # type: ignore[misc]  # it has no types
        def set_seed(self, seed: int) -> None:
            """Draw nothing."""

        def get_init_state(self, message_history: list[Any] | None = None) -> list[Any]:
            """Return what the user has not heard yet."""
            return list(message_history or [])

        def generate_next_message(self, message: Any, state: list[Any]) -> tuple[Any, list[Any]]:
            """Ask for the next turn."""
            reply = link.ask("user_turn", messages=_unseen(state, message))
            return _spoken(UserMessage, "user", reply), []

    return RemoteUser()


def answer_by_assessor(link: Link) -> None:
    """Have the official user's model asked by the assessor, which has the keys."""
    from tau2.data_model.message import AssistantMessage
    from tau2.user import user_simulator
    from tau2.utils.llm_utils import to_litellm_messages

    def generate(
        model: str, messages: list[Any], tools: list[Any] | None = None, **others: Any
    ) -> Any:
        reply = link.ask(
            "model_turn",
            purpose=others.get("call_name"),
            model=model,
            messages=to_litellm_messages(messages),
            tools=[tool.openai_schema for tool in tools or ()],
        )
        spoken = _spoken(AssistantMessage, "assistant", reply)
        spoken.cost = reply.get("cost")
        return spoken

    user_simulator.generate = generate


def decide_by(verdicts: Mapping[str, bool]) -> None:
    """Have the verdicts on statements taken from these; the assessor has asked its judge."""
    from tau2.data_model.simulation import NLAssertionCheck
    from tau2.evaluator.evaluator_nl_assertions import NLAssertionsEvaluator

    def checks(_: list[Any], statements: list[str]) -> list[Any]:
        return [
            NLAssertionCheck(nl_assertion=each, met=verdicts[each], justification="the judge's")
            for each in statements
            if each in verdicts
        ]

    NLAssertionsEvaluator.evaluate_nl_assertions = staticmethod(checks)


def _unseen(state: list[Any], message: Any) -> list[JsonObject]:
    return [record(each) for each in (state if message is None else [*state, message])]


def record(message: Any) -> JsonObject:
    """Return a message with what is said and done in it, and no more."""
    if message.role == "tool":
        grouped = getattr(message, "tool_messages", None)
        if grouped is not None:
            return {"role": "tool", "tool_messages": [record(each) for each in grouped]}
        kept = ("id", "role", "content", "requestor", "error")
        return {name: getattr(message, name) for name in kept}
    calls = getattr(message, "tool_calls", None)
    record = {"role": message.role, "content": message.content}
    return (
        record if calls is None else {**record, "tool_calls": [call_record(each) for each in calls]}
    )


def call_record(call: Any) -> JsonObject:
    """Return a call of a tool."""
    return {name: getattr(call, name) for name in ("id", "name", "arguments", "requestor")}


def _spoken(kind: Any, role: str, reply: JsonObject) -> Any:
    """Return a turn that the assessor has given."""
    from tau2.data_model.message import ToolCall

    calls = [
        ToolCall(id=each["id"], name=each["name"], arguments=each["arguments"], requestor=role)
        for each in reply.get("tool_calls") or ()
    ]
    return kind(role=role, content=reply.get("content"), tool_calls=calls or None, cost=0.0)
