"""ScriptedUser: a user without a language model. The same words in, the same words out.

It says what its scenario holds and does what the agent asks; it cannot follow conditions ("if the
agent offers ..."), so results played with it are labelled and not comparable with published ones.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

from tau_bridge.tau2.agents import call_ids
from tau_bridge.tau2.messages import AssistantMessage, Message, ToolCall, ToolMessage, UserMessage
from tau_bridge.tau2.stopping import STOP, TRANSFER
from tau_bridge.tau2.tasks import Instructions, Task
from tau_bridge.tau2.tool_requests import ToolRequest, ToolRequestReader
from tau_bridge.tau2.world import ToolSchema

PATIENCE: Final = 40
"""Turns of the user after which it hangs up. A gold path of the published tasks takes at most 22
(ten tools, each with a report, the opening and the end)."""

_REPEATS_OF_A_REQUEST: Final = 3
_FAILURES_OF_A_CALL: Final = 2
_ECHO_CHARS: Final = 20

_TRANSFERRED: Final = (
    "being transferred to a human",
    "are being transferred",
    "been transferred",
    "transferring you",
    "will transfer you",
    "i'll transfer you",
    "have transferred you",
)
_CLOSING: Final = (
    "anything else",
    "something else i can",
    "any other questions",
    "further assistance",
    "goodbye",
    "good bye",
    "have a great day",
    "have a nice day",
    "have a good day",
    "have a wonderful day",
)
_REFUSING: Final = re.compile(
    r"(?:cannot|can't|can not|unable to|not able to|won't be able to) (?:help|assist)"
)
_ASKING_TO_CONFIRM: Final = (
    "confirm",
    "proceed",
    "go ahead",
    "is that correct",
    "is this correct",
    "would you like me to",
    "do you want me to",
    "shall i",
    "should i",
    "(yes/no)",
    "yes or no",
    "do you agree",
    "are you sure",
)
_ASKING: Final = (
    "?",
    "please provide",
    "please tell",
    "please share",
    "please give",
    "please enter",
    "please verify",
    "please confirm",
    "i need your",
    "i will need",
    "i'll need",
    "let me know",
)
_EMPTY_WORDS: Final = frozenset(
    [
        "about",
        "also",
        "been",
        "cannot",
        "could",
        "does",
        "don't",
        "from",
        "have",
        "here",
        "know",
        "more",
        "need",
        "please",
        "remember",
        "sure",
        "that",
        "their",
        "them",
        "there",
        "this",
        "want",
        "what",
        "when",
        "which",
        "will",
        "with",
        "would",
        "you're",
        "your",
        "yours",
    ]
)


class ScriptedUser:
    """Plays a task's user by rules. Serves one conversation.

    It opens with the reason for the call, gives what it knows when asked, says what it does not
    know, runs the tools that the agent names (one a turn) and reports what they said, agrees
    when asked to confirm, and hangs up when the agent is done, cannot help, repeats itself or
    takes too long.

    Args:
        task: Whose `user_scenario` is played.
        tools: Schemas of the tools that this user can run.
        patience: Turns after which it hangs up.
    """

    label: Final = "scripted"
    step_id: Final = None
    """No call stands behind its words."""

    def __init__(
        self, task: Task, *, tools: Sequence[ToolSchema] = (), patience: int = PATIENCE
    ) -> None:
        instructions = task.user_scenario.instructions
        if isinstance(instructions, str):
            instructions = Instructions(reason_for_call=instructions)
        self._opening = instructions.reason_for_call or instructions.task_instructions or "Hello."
        self._known = (instructions.known_info or "").strip()
        self._unknown = (instructions.unknown_info or "").strip()
        self._reader = ToolRequestReader(tools)
        self._patience = patience
        self._new_call_id = call_ids("user_call").__next__
        self._turns = 0
        self._has_opened = self._has_told_known = False
        self._said = self._heard = ""
        self._echoes = self._repeats = 0
        self._waiting: list[ToolRequest] = []
        self._notes: list[str] = []
        self._running: dict[str, ToolRequest] = {}
        self._failures: Counter[str] = Counter()

    async def reply(self, incoming: Sequence[Message]) -> UserMessage:
        """The user's next turn; depends on nothing but the scenario and what was said."""
        self._turns += 1
        if self._turns >= self._patience:
            return UserMessage(content=f"I have to go now. {STOP}")
        if not self._has_opened:
            self._has_opened = True
            return self._say(self._opening)
        for message in incoming:
            if isinstance(message, ToolMessage):
                self._note_result(message)
        if not self._running_is_over(incoming):
            heard = [m.text for m in incoming if isinstance(m, AssistantMessage)]
            return self._answer("\n".join(heard).strip())
        return self._run_next() or self._report()

    # -- tools ---------------------------------------------------------------------------------

    def _running_is_over(self, incoming: Sequence[Message]) -> bool:
        return any(isinstance(message, ToolMessage) for message in incoming)

    def _note_result(self, result: ToolMessage) -> None:
        request = self._running.pop(result.id, None)
        if request is None:
            return
        content = (result.content or "").strip() or "nothing"
        if result.error:
            self._failures[request.key] += 1
            self._notes.append(f"{request.name} did not work: {content}")
        else:
            self._notes.append(f"I ran {request.name}. It says: {content}")

    def _accept(self, requests: Sequence[ToolRequest]) -> UserMessage:
        for request in requests:
            if request.problem is not None:
                self._notes.append(request.problem)
            elif self._failures[request.key] >= _FAILURES_OF_A_CALL:
                self._notes.append(f"{request.name} does not work for me.")
            else:
                self._waiting.append(request)
        return self._run_next() or self._report()

    def _run_next(self) -> UserMessage | None:
        if not self._waiting:
            return None
        request = self._waiting.pop(0)
        call = ToolCall(
            id=self._new_call_id(),
            name=request.name,
            arguments=dict(request.arguments),
            requestor="user",
        )
        self._running[call.id] = request
        return UserMessage(tool_calls=(call,))

    def _report(self) -> UserMessage:
        text = "\n".join(self._notes)
        self._notes.clear()
        return self._say(text)

    # -- words ---------------------------------------------------------------------------------

    def _say(self, text: str) -> UserMessage:
        # A scenario or a tool's output must not end the conversation by holding a stop token.
        self._said = text.replace("###", "").strip() or "Hello."
        return UserMessage(content=self._said)

    def _answer(self, text: str) -> UserMessage:
        self._repeats = self._repeats + 1 if text == self._heard else 0
        self._heard = text
        if self._is_echo(text):
            self._echoes += 1
            if self._echoes > 1:
                return UserMessage(content=f"You only repeat what I say. {STOP}")
            return self._say("I do not understand. That is what I said myself.")
        self._echoes = 0
        if _is_transfer(text):
            return UserMessage(content=TRANSFER)
        requests = self._reader.read(text) if self._repeats < _REPEATS_OF_A_REQUEST else ()
        if requests:
            return self._accept(requests)
        if self._repeats:
            return UserMessage(content=f"You said that before. {STOP}")
        lowered = text.lower()
        if any(phrase in lowered for phrase in _CLOSING):
            return UserMessage(content=f"No, thank you. {STOP}")
        if _REFUSING.search(lowered) and "?" not in text:
            return UserMessage(content=f"All right, thank you anyway. {STOP}")
        return self._say(self._words_for(lowered))

    def _is_echo(self, text: str) -> bool:
        return text == self._said or (len(self._said) >= _ECHO_CHARS and self._said in text)

    def _words_for(self, heard: str) -> str:
        """What to say to a text (lower-cased) that needs an answer in words."""
        confirms = any(phrase in heard for phrase in _ASKING_TO_CONFIRM)
        if not confirms and not any(phrase in heard for phrase in _ASKING):
            return "All right, please go on."
        said = ["Yes."] if confirms else []
        if self._known and not self._has_told_known:
            self._has_told_known = True
            said.append(self._known)
        elif self._known and not confirms and _share_a_word(self._known, heard):
            said.append(self._known)
        if self._unknown and _share_a_word(self._unknown, heard):
            said.append(f"There is something I cannot tell you: {self._unknown}")
        return "\n".join(said) or "I don't know more than I have told you."


def _is_transfer(text: str) -> bool:
    """Whether the agent says that it hands the user over; asking or refusing is not saying."""
    for sentence in re.split(r"(?<=[.!?\n])", text.lower()):
        if (
            any(phrase in sentence for phrase in _TRANSFERRED)
            and "?" not in sentence
            and not re.search(r"\b(?:not|cannot|can't|won't|unable|if|before)\b", sentence)
        ):
            return True
    return False


def _share_a_word(info: str, heard: str) -> bool:
    """Whether both texts hold the same word of four letters or more that says something."""
    return bool(_telling_words(info.lower()) & _telling_words(heard))


def _telling_words(text: str) -> set[str]:
    return set(re.findall(r"[a-z0-9_']{4,}", text)) - _EMPTY_WORDS
