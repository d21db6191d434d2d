"""Heard: a conversation as the check of its user reads it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evals.diagnosis import Behaviour, Call, Turn


@dataclass(frozen=True, kw_only=True)
class Heard:
    """A conversation of a user who had instructions.

    Args:
        behaviour: What was said and called.
        results: What the user's own tools answered, with the place of each message.
        began: The place of the first message that the user itself wrote; earlier ones are the task's.
    """

    behaviour: Behaviour
    results: Sequence[tuple[int, str]] = ()
    began: int = 0

    @property
    def instructions(self) -> str:
        """Return all that the user was told to want, know and say."""
        return self.behaviour.instructions

    def said_by_user(self) -> list[Turn]:
        """Return the messages that the user itself wrote."""
        turns = self.behaviour.turns
        return [each for each in turns if each.speaker == "user" and each.message >= self.began]

    def given_before(self, message: int) -> list[str]:
        """Return all texts from which the user may have had what it said in a message."""
        return [self.instructions, *self._told_before(message)]

    def _told_before(self, message: int) -> Iterator[str]:
        for turn in self.behaviour.turns:
            if turn.message < message and (
                turn.speaker == "assistant" or turn.message < self.began
            ):
                yield turn.text
        yield from (text for place, text in self.results if place < message)


def heard_in(messages: Sequence[Mapping[str, Any]], instructions: str, *, began: int = 0) -> Heard:
    """Read a conversation in the official results format.

    Args:
        messages: With `role`, `content`, and `tool_calls` and `requestor` where there are any.
        instructions: All that the user was told to want, know and say.
        began: How many messages the task brings along.
    """
    return Heard(
        behaviour=Behaviour(
            turns=list(_turns(messages)), calls=list(_calls(messages)), instructions=instructions
        ),
        results=[
            (place, str(each.get("content") or ""))
            for place, each in enumerate(messages)
            if each.get("role") == "tool" and each.get("requestor") == "user"
        ],
        began=began,
    )


def _turns(messages: Sequence[Mapping[str, Any]]) -> Iterator[Turn]:
    for place, each in enumerate(messages):
        text, role = each.get("content"), each.get("role")
        if isinstance(text, str) and text.strip() and role in ("assistant", "user"):
            yield Turn(speaker="user" if role == "user" else "assistant", text=text, message=place)


def _calls(messages: Sequence[Mapping[str, Any]]) -> Iterator[Call]:
    results = {
        each.get("id"): str(each.get("content") or "")
        for each in messages
        if each.get("role") == "tool"
    }
    for place, each in enumerate(messages):
        for call in each.get("tool_calls") or ():
            yield Call(
                name=str(call.get("name")),
                arguments=call.get("arguments") or {},
                requestor="user" if each.get("role") == "user" else "assistant",
                result=results.get(call.get("id"), ""),
                message=place,
            )
