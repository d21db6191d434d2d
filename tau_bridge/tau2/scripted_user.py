"""ScriptedUser: a user without a language model. Its results do not compare with published ones."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from tau_bridge.benchmark import SCRIPTED_USER
from tau_bridge.completion import ToolSchema
from tau_bridge.messages import AssistantMessage, Message, ToolMessage, UserMessage
from tau_bridge.tau2.one_text import read_scenario
from tau_bridge.tau2.persona import Persona, asking
from tau_bridge.tau2.stopping import STOP, TRANSFER, without_stop_tokens
from tau_bridge.tau2.tasks import Task
from tau_bridge.tau2.tool_requests import RequestedTools

PATIENCE: Final = 40
"""Turns of the user after which it hangs up. A gold path of the published tasks takes at most 22
(ten tools, each with a report, the opening and the end)."""

_REPEATS_OF_A_REQUEST: Final = 3
_REPEATS_WITH_NEWS: Final = 10
"""Repeats of a request whose result was another one each time."""
_ECHO_CHARS: Final = 20
_CHARS_READ: Final = 5000
_TRANSFERRED: Final = (
    r"being transferred to a human|(?:are being|been) transferred|transferring you"
    r"|(?:will|i'll) transfer you|have transferred you"
)
_CLOSING: Final = (
    r"anything else|something else i can|any other questions|further assistance|good ?bye"
    r"|have a (?:great|nice|good|wonderful) day"
)
_REFUSING: Final = (
    r"(?:cannot|can't|can not|unable to|not able to|won't be able to) (?:help|assist)"
)
_DONE: Final = r"\bha(?:s|ve) been (?:\w+ly )?\w+ed\b|\bsuccessfully\b|\bis (?:now )?done\b"


class ScriptedUser:
    """Plays a task's user by rules. Serves one conversation.

    It opens with the reason for the call, answers from what it knows, runs the tools that the
    agent names (one a turn) and tells what they said, agrees to all that it does not refuse, says
    what else it wants, and hangs up when that is done or refused, or the agent goes in circles.

    Args:
        task: Whose `user_scenario` is played.
        tools: Schemas of the tools that this user can run.
        patience: Turns after which it hangs up.
    """

    label: Final = SCRIPTED_USER
    step_id: Final = None
    """No call stands behind its words."""

    def __init__(
        self, task: Task, *, tools: Sequence[ToolSchema] = (), patience: int = PATIENCE
    ) -> None:
        instructions, opening = task.user_scenario.instructions, None
        if isinstance(instructions, str):
            instructions, opening = read_scenario(instructions)
        self._persona = Persona(instructions, opening)
        self._tools = RequestedTools(tools)
        self._patience = patience
        self._said = self._heard = self._report = ""
        self._has_news = False
        self._turns = self._echoes = self._repeats = self._endings = 0

    async def reply(self, incoming: Sequence[Message]) -> UserMessage:
        """Take the user's next turn; depends on nothing but the scenario and what was said."""
        self._turns += 1
        if self._turns >= self._patience:
            return UserMessage(content=f"I have to go now. {STOP}")
        if self._turns == 1:
            return self._say(self._persona.opening)
        results = [message for message in incoming if isinstance(message, ToolMessage)]
        if results:
            self._tools.note(results)
            return self._run_tools()
        heard = [message.text for message in incoming if isinstance(message, AssistantMessage)]
        return self._answer("\n".join(heard).strip())

    def _run_tools(self) -> UserMessage:
        call = self._tools.next_call()
        if call is not None:
            return UserMessage(tool_calls=(call,))
        report = self._tools.report()
        self._has_news, self._report = report != self._report, report
        return self._say(report)

    def _say(self, text: str) -> UserMessage:
        # A scenario or a tool's output must not end the conversation by holding a stop token.
        self._said = without_stop_tokens(text).strip() or "Hello."
        return UserMessage(content=self._said)

    def _answer(self, text: str) -> UserMessage:
        self._repeats = self._repeats + 1 if text == self._heard else 0
        self._heard = text
        if text == self._said or (len(self._said) >= _ECHO_CHARS and self._said in text):
            self._echoes += 1
            if self._echoes > 1:
                return UserMessage(content=f"You only repeat what I say. {STOP}")
            return self._say("I do not understand. That is what I said myself.")
        self._echoes = 0
        if _is_transfer(text):
            return UserMessage(content=TRANSFER)
        patience = _REPEATS_WITH_NEWS if self._has_news else _REPEATS_OF_A_REQUEST
        if self._repeats < patience and self._tools.accept(text):
            return self._run_tools()
        if self._repeats:
            return UserMessage(content=f"You said that before. {STOP}")
        return self._words_for(text[:_CHARS_READ])

    def _words_for(self, heard: str) -> UserMessage:
        """Answer a text; leave where it is done or refused and there is no other wish."""
        lowered = heard.lower()
        if reaction := self._persona.react(heard):
            return self._say(reaction)
        if re.search(_CLOSING, lowered):
            return self._next_wish("No, thank you.")
        if reaction == "" or (re.search(_REFUSING, lowered) and "?" not in heard):
            return self._next_wish("All right, thank you anyway.")
        if asking(heard):
            return self._say(self._persona.answer(heard))
        if not re.search(_DONE, lowered):
            return self._say("All right, please go on.")
        self._endings += 1
        return self._next_wish("Thank you, that is all." if self._endings > 1 else "")

    def _next_wish(self, goodbye: str) -> UserMessage:
        """Say the next wish; without one say goodbye, or ask whether that is all."""
        if self._persona.wishes:
            return self._say(self._persona.wishes.pop(0))
        if not goodbye:
            return self._say("Thank you. Is that all?")
        return UserMessage(content=f"{goodbye} {STOP}")


def _is_transfer(text: str) -> bool:
    """Tell whether the agent says that it hands the user over, not asks or refuses to."""
    return any(
        re.search(_TRANSFERRED, sentence)
        and "?" not in sentence
        and not re.search(r"\b(?:not|cannot|can't|won't|unable|if|before)\b", sentence)
        for sentence in re.split(r"(?<=[.!?\n])", text.lower())
    )
