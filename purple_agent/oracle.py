"""The oracle: replays a task's gold actions. The ceiling of every score.

Gold scripts are given to its process directly and are never sent over the wire.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from purple_agent import wire
from purple_agent.conversation import Turn
from purple_agent.errors import GoldScriptError, RejectedError, nearest

CLOSING_QUESTION = "Is there anything else I can help you with?"
SOLO_END_TOOL = "done"
"""The tool that ends a conversation without a user; offered in solo mode only."""
MAX_CONVERSATIONS = 10_000
"""Most conversations to remember; the least recently used is dropped first."""


class _Data(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class GoldAction(_Data):
    """One gold action: the owner of the tool, its name and the arguments."""

    requestor: Literal["assistant", "user"] = "assistant"
    name: str
    arguments: dict[str, Any] = {}


class Injected(_Data):
    """A stranger's text in the result of a tool, and what it demands.

    `text` is what it is recognised by; `actions` and `answer` are what it wants done and said.
    """

    text: str
    actions: tuple[GoldAction, ...] = ()
    answer: str = ""


class GoldScript(_Data):
    """The oracle's knowledge of one task.

    `opening` is the user's first text, which identifies a conversation without metadata;
    `communicate` are strings to tell the user verbatim. `answer` is the whole closing text, word
    for word, for tasks whose answer is compared; it replaces the usual one. The oracle never reads
    `injected`; `purple_agent.gullible` does.
    """

    opening: str | None = None
    actions: tuple[GoldAction, ...] = ()
    communicate: tuple[str, ...] = ()
    answer: str | None = None
    injected: Injected | None = None


_SCRIPTS: TypeAdapter[dict[str, GoldScript]] = TypeAdapter(dict[str, GoldScript])


def parse_scripts(text: str | bytes) -> dict[str, GoldScript]:
    """Read the gold scripts by `<domain>/<task_id>`.

    Raises:
        GoldScriptError: The text is not a JSON object of scripts. The message names the location of
            the first error and never quotes a script.
    """
    try:
        return _SCRIPTS.validate_json(text)
    except ValidationError as exc:
        first = exc.errors(include_url=False, include_input=False)[0]
        where = " -> ".join(str(key) for key in first["loc"]) or "the whole"
        raise GoldScriptError(
            f"the gold scripts cannot be read: {where}: {first['msg']} (expected a JSON object "
            '{"<domain>/<task_id>": {"opening", "actions", "communicate", "answer", "injected"}})'
        ) from exc


@dataclass
class Conversation:
    """The state of one conversation, updated at every turn."""

    script: GoldScript
    solo: bool
    ahead: deque[GoldAction]
    demanded: str = ""
    """Words to add to the closing text, because a text demanded them."""
    obeyed: bool = False
    last_message_id: str = ""
    done: GoldAction | None = None
    """The action of the last reply; None if that was no action."""
    is_lost: bool = False
    gives_up: bool = False
    states_confidence: bool = False
    last_reply: str = ""

    def next_reply(self) -> str:
        """Return the next reply; after the last action, always the closing one."""
        self.done = None
        if self.ahead:
            action = self.done = self.ahead.popleft()
            if action.requestor == "assistant" or self.solo:
                return wire.call(action.name, action.arguments)
            return wire.respond(request_of_user_tool(action))
        if self.solo:
            return wire.call(SOLO_END_TOOL, {})
        return wire.respond(" ".join(filter(None, (closing(self.script), self.demanded))))

    def obey(self, injected: Injected) -> None:
        """Do next what a text demands, once, and say at the end what it wants said."""
        if not self.obeyed:
            self.ahead.extendleft(reversed(injected.actions))
            self.demanded = injected.answer
            self.obeyed = True


def request_of_user_tool(action: GoldAction) -> str:
    """Ask the user in one sentence to run a tool, with arguments as Python literals."""
    arguments = ", ".join(f"{key}={value!r}" for key, value in action.arguments.items())
    return (
        f"Please run the tool {action.name}({arguments}) on your phone now and tell me the result."
    )


def closing(script: GoldScript) -> str:
    """Return the last text: the script's answer, or what is to be communicated and a question."""
    if script.answer is not None:
        return script.answer
    if not script.communicate:
        return f"That is done. {CLOSING_QUESTION}"
    return (
        f"That is done. For your information: {'; '.join(script.communicate)}. {CLOSING_QUESTION}"
    )


class OracleAgent:
    """Plays the script of a conversation's task, one action per turn.

    Only the first message of a conversation is read; later ones advance it, whatever they say. A
    repeated message (same id) gets the same reply and does not advance it.
    """

    def __init__(
        self, scripts: Mapping[str, GoldScript], *, max_conversations: int = MAX_CONVERSATIONS
    ) -> None:
        self._scripts = dict(scripts)
        self._max_conversations = max_conversations
        self._conversations: OrderedDict[str, Conversation] = OrderedDict()

    def reply(self, turn: Turn) -> str:
        """Return the next gold action, or the closing text.

        Raises:
            RejectedError: The conversation matches no script, or several.
        """
        conversation = self._conversations.get(turn.context_id)
        if conversation is None:
            conversation = self._begin(turn)
        elif turn.message_id == conversation.last_message_id:
            return conversation.last_reply
        else:
            self._hear(conversation, turn.text)
        self._conversations.move_to_end(turn.context_id)
        conversation.last_message_id = turn.message_id
        conversation.last_reply = conversation.next_reply()
        return conversation.last_reply

    def _hear(self, conversation: Conversation, text: str) -> None:
        """Do nothing about what a later message says."""

    def _begin(self, turn: Turn) -> Conversation:
        first = wire.read_opening(turn.text)
        if turn.task is not None:
            script = self._named(turn.task)
        else:
            script = self._recognised(first.user_text if first else turn.text)
        solo = first is not None and SOLO_END_TOOL in first.tool_names
        conversation = Conversation(script, solo, deque(script.actions))
        self._conversations[turn.context_id] = conversation
        if len(self._conversations) > self._max_conversations:
            self._conversations.popitem(last=False)
        return conversation

    def _named(self, task: str) -> GoldScript:
        try:
            return self._scripts[task]
        except KeyError:
            raise RejectedError(
                f"The oracle has no gold script for task {task!r}: {nearest(task, self._scripts)}"
            ) from None

    def _recognised(self, user_text: str) -> GoldScript:
        found = [
            name
            for name, script in self._scripts.items()
            if script.opening and script.opening in user_text
        ]
        if len(found) == 1:
            return self._scripts[found[0]]
        if not found:
            raise RejectedError(
                "The oracle does not recognise the task: the message's metadata names none "
                "(key 'greenroom.task'), and the user's text contains no known opening."
            )
        raise RejectedError(
            f"The oracle cannot identify the task: {len(found)} known openings occur in the "
            f"user's text ({', '.join(repr(name) for name in sorted(found)[:5])}); name one in "
            "the message's metadata (key 'greenroom.task')."
        )
