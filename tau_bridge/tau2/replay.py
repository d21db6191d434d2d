"""Brings an environment into the state that a task, a conversation or its gold path leads to."""

from __future__ import annotations

import json
import logging
from collections import deque
from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from tau_bridge.embedding import EmbeddingModel
from tau_bridge.errors import HarnessError
from tau_bridge.messages import (
    AssistantMessage,
    Message,
    ToolCall,
    ToolMessage,
    UserMessage,
    parse_messages,
)
from tau_bridge.tau2.domains import Domain
from tau_bridge.tau2.environment import Environment
from tau_bridge.tau2.tasks import GoldAction, InitialState, Task

_log = logging.getLogger(__name__)

Exchange = tuple[ToolCall, ToolMessage]
"""A call and the result that was recorded for it."""


def new_world(
    domain: Domain,
    task: Task,
    *,
    solo: bool = False,
    embedding_model: EmbeddingModel | None = None,
) -> Environment:
    """Make a world in a task's initial state: data, actions, then its message history.

    Args:
        domain: The task's domain.
        task: The task.
        solo: It is played without a user.
        embedding_model: Searches its documents, where they are searched so.

    Raises:
        HarnessError: The task's data do not fit the domain, or its history replays to other
            results than it records.
    """
    environment = Environment(domain, solo=solo, embedding_model=embedding_model)
    set_state(environment, task, message_history(task), lenient=False)
    return environment


def set_state(
    environment: Environment,
    task: Task,
    messages: Sequence[Message],
    *,
    lenient: bool,
    cut_off: bool = False,
) -> None:
    """Bring a fresh environment to where a conversation left it.

    First the task's initialization data, then its initialization actions, each followed by a
    synchronisation; then the calls in `messages` that may have changed the state, each
    synchronised if it succeeds; one synchronisation at the end. Calls of unknown tools, and of
    tools that only read, are left out.

    Args:
        environment: A fresh one; solo or not as the conversation was.
        task: Whose initial state to set.
        messages: The conversation from its start, the task's own message history included.
        lenient: A result that differs from the recorded one is logged, not an error.
        cut_off: The conversation may end before the results of its last calls arrived.

    Raises:
        HarnessError: The task's data do not fit, the messages are no conversation, or a result
            differs and `lenient` is false.
    """
    if environment.solo and any(isinstance(message, UserMessage) for message in messages):
        raise HarnessError("a conversation in solo mode cannot hold messages of a user")
    environment.adapt_to(task)
    initial = task.initial_state or InitialState()
    if initial.initialization_data is not None:
        environment.initialise(initial.initialization_data)
    for action in initial.initialization_actions or ():
        environment.run(action)
    names = environment.domain.tool_names
    for call, recorded in exchanges(messages, cut_off=cut_off):
        if names.changes_state(call.name):
            _compare(call, recorded, environment.respond(call), lenient=lenient)
    environment.settle()


def apply_gold(environment: Environment, actions: Sequence[GoldAction]) -> None:
    """Carry out a task's gold actions, without any synchronisation.

    An action that fails is skipped: official tasks have some. Those that only read change
    nothing, and are left out.
    """
    for action in actions:
        if environment.domain.tool_names.changes_state(action.name):
            environment.attempt(action.name, action.requestor, action.arguments)


def message_history(task: Task) -> tuple[Message, ...]:
    """Return the messages that precede a task's conversation.

    Raises:
        HarnessError: They are no τ² messages.
    """
    records = task.initial_state.message_history if task.initial_state is not None else None
    try:
        return parse_messages(records or ())
    except ValidationError as exc:
        raise HarnessError(f"the message history of task {task.id!r} is invalid: {exc}") from exc


def exchanges(messages: Sequence[Message], *, cut_off: bool = False) -> list[Exchange]:
    """Return the tool calls of a conversation, each with its recorded result, in order.

    Args:
        messages: The conversation from its start.
        cut_off: Calls at the very end may lack their results; not having been carried out, they
            are left out.

    Raises:
        HarnessError: A result without its call, or a call without its result.
    """
    found: list[Exchange] = []
    waiting: deque[ToolCall] = deque()
    for index, message in enumerate(messages):
        if waiting:
            call = waiting.popleft()
            if not isinstance(message, ToolMessage) or message.id != call.id:
                raise HarnessError(
                    f"message {index} is not the result of call {call.id!r} of {call.name}"
                )
            found.append((call, message))
        elif isinstance(message, ToolMessage):
            raise HarnessError(f"message {index} is a tool result that follows no call")
        elif isinstance(message, AssistantMessage | UserMessage):
            waiting.extend(message.tool_calls or ())
    if waiting and not cut_off:
        raise HarnessError(f"the conversation ends before call {waiting[0].id!r} was answered")
    return found


def _compare(
    call: ToolCall, recorded: ToolMessage, replayed: ToolMessage, *, lenient: bool
) -> None:
    if _content(recorded) == _content(replayed):
        return
    if not lenient:
        raise HarnessError(
            f"call {call.id!r} of {call.name} gave {replayed.content!r} when it was repeated, "
            f"but {recorded.content!r} is recorded"
        )
    _log.debug("repeating %s gave another result than the recorded one", call.name)


def _content(message: ToolMessage) -> Any:
    try:
        return json.loads(message.content or "")
    except ValueError:
        return message.content
