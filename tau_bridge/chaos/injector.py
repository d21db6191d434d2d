"""Injector: draws the faults of one play of a trial, and remembers those that happened.

A draw depends on the trial's seed, its task and the place alone, so that every agent meets the same
faults at the same places.
"""

from __future__ import annotations

import json
from collections import Counter
from random import Random
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol

from pydantic import BaseModel, ConfigDict

from tau_bridge.chaos.profiles import FaultKind
from tau_bridge.chaos.prompts import reworded
from tau_bridge.chaos.values import changed_values

if TYPE_CHECKING:
    from collections.abc import Mapping

INJECTED: Final = "injected"
"""The attribute of a step that names the fault injected there."""
DELAY_S: Final = 0.5
"""Seconds by which a message is late."""
NOT_RUN: Final = (
    "Error: the service is temporarily unavailable (503). The call was not carried out; try again."
)
UNKNOWN: Final = "Error: the service did not answer in time (504). It is not known whether the call was carried out."
MOST_BEFORE_CUT: Final = 2
"""Most events of a stream that arrive before it is cut off."""
MessageFault = Literal["lost_reply", "delay", "busy", "duplicate", "cut_stream"]
ToolFault = Literal["tool_error", "tool_timeout", "tool_fields"]
MemberFault = Literal["member_lost_reply", "member_duplicate", "member_busy", "member_delay"]
_BETWEEN: Final[tuple[MemberFault, ...]] = (
    *("member_lost_reply", "member_duplicate", "member_busy", "member_delay"),
)
_TO_BE_SENT_AGAIN: Final = frozenset({"member_lost_reply", "member_busy"})
_MESSAGE: Final[tuple[MessageFault, ...]] = (
    *("lost_reply", "duplicate", "busy", "delay", "cut_stream"),
)
_TOOL: Final[tuple[ToolFault, ...]] = ("tool_timeout", "tool_error", "tool_fields")


class InjectedFault(BaseModel):
    """A fault that was injected."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: FaultKind
    place: int
    """The number of the message or of the tool's call, from 1; between members, of their pair."""
    call_id: str | None = None
    """The call that it hit, if it hit one."""
    detail: str = ""
    is_error: bool = False
    """True if a reply was dropped that was none: the agent answered the repetition with an error."""
    produced_by: str | None = None
    """The author of a user's other words: rules, or a model; None for other faults."""
    by_heart: tuple[str, ...] = ()
    """The ids of the data that the agent named although nobody had told it."""


class Rewording(Protocol):
    """Gives a text in other words; `name` says who does."""

    name: str

    async def __call__(self, text: str) -> str:
        """Return the text in other words."""


class Injector:
    """The faults of one play.

    Args:
        key: Names the trial and the family; together with the seed it decides every draw.
        seed: Of the trial.
        rates: How often each fault happens, 0 to 1.
    """

    def __init__(self, key: str, *, seed: int, rates: Mapping[FaultKind, float]) -> None:
        self._key = f"{seed}/{key}"
        self._rates = rates
        self._messages = self._calls = 0
        self._between: Counter[tuple[str, str]] = Counter()
        self._spared: set[tuple[str, str]] = set()
        self.faults: list[InjectedFault] = []
        """The faults that happened, in order."""

    def next_message(self) -> MessageFault | None:
        """Return the fault of the next message to the agent; None for none."""
        self._messages += 1
        return next((kind for kind in _MESSAGE if self._drawn(kind, self._messages)), None)

    def next_call(self) -> ToolFault | None:
        """Return the fault of the agent's next call of a tool; None for none."""
        self._calls += 1
        return next((kind for kind in _TOOL if self._drawn(kind, self._calls)), None)

    def next_between(self, caller: str, callee: str) -> MemberFault | None:
        """Return the fault of the next message from one member of a team to another.

        What follows a message that has to be sent again meets none, so that a caller which does so
        comes through.
        """
        pair = (caller, callee)
        self._between[pair] += 1
        if pair in self._spared:
            self._spared.remove(pair)
            return None
        at = f"{caller}>{callee}"
        number = self._between[pair]
        return next((kind for kind in _BETWEEN if self._drawn(kind, number, at)), None)

    def status(self) -> int:
        """Return the status with which the current message is turned away."""
        return self._random("status", self._messages).choice((429, 503))

    def events_before_cut(self) -> int:
        """Return how many events of the current message's stream arrive before it is cut off."""
        return self._random("cut", self._messages).randint(0, MOST_BEFORE_CUT)

    async def opening(self, text: str, rewording: Rewording | None = None) -> str:
        """Return a user's first words, in others where that is drawn.

        A model's words count where they have the values of the text and no others; else, and
        without a model, those of the rules.

        Args:
            text: The first words.
            rewording: The model.
        """
        if not self._drawn("prompt", 1):
            return text
        said, by = reworded(text, self._random("words", 1)), "rules"
        if rewording is not None:
            offered = await rewording(text)
            changed = changed_values(text, offered)
            by = rewording.name
            if changed:
                by = f"rules, as {rewording.name} lost, added or moved {', '.join(changed)}"
            else:
                said = offered
        self.faults.append(
            InjectedFault(kind="prompt", place=1, detail=said[:500], produced_by=by[:500])
        )
        return said

    def other_names(self) -> Random | None:
        """Return what draws other names and ids, where they are to be others; None: they stay."""
        return self._random("names", 1) if self._drawn("other_names", 1) else None

    def note_names(self, told: Mapping[str, str], by_heart: tuple[str, ...]) -> None:
        """Remember the names and ids that the agent was given, in place of what was noted before.

        Args:
            told: The first name of each.
            by_heart: First ids that the agent named.
        """
        parts = (
            [f"told {', '.join(f'{new} for {old}' for new, old in told.items())}"] if told else []
        )
        if by_heart:
            parts.insert(0, f"named {', '.join(by_heart)}, which nobody had told it")
        detail = "; ".join(parts)
        names = InjectedFault(kind="other_names", place=1, detail=detail[:500], by_heart=by_heart)
        self.faults = [*(each for each in self.faults if each.kind != names.kind), names]

    def note_message(self, kind: MessageFault, detail: str = "", *, is_error: bool = False) -> None:
        """Remember a fault that hit the current message."""
        place = self._messages
        self.faults.append(
            InjectedFault(kind=kind, place=place, detail=detail[:500], is_error=is_error)
        )

    def note_call(self, kind: ToolFault, call_id: str) -> None:
        """Remember a fault that hit the current call of a tool."""
        self.faults.append(InjectedFault(kind=kind, place=self._calls, call_id=call_id))

    def note_between(self, kind: MemberFault, caller: str, callee: str) -> None:
        """Remember a fault that hit the current message from one member to another."""
        pair = (caller, callee)
        if kind in _TO_BE_SENT_AGAIN:
            self._spared.add(pair)
        place, detail = self._between[pair], f"{caller} to {callee}"
        self.faults.append(InjectedFault(kind=kind, place=place, detail=detail))

    def _drawn(self, kind: FaultKind, place: int, at: str = "") -> bool:
        rate = self._rates.get(kind, 0.0)
        return rate > 0 and self._random(kind + at, place).random() < rate

    def _random(self, what: str, place: int) -> Random:
        return Random(f"{self._key}/{what}/{place}")  # noqa: S311 - nothing secret is drawn


def with_other_fields(content: str | None) -> str | None:
    """Return a tool's result with its fields reversed and one more; None where it has no fields."""
    try:
        value = json.loads(content or "")
    except ValueError:
        return None
    changed = _reordered(value)
    objects = [changed] if isinstance(changed, dict) else changed
    if not isinstance(objects, list) or not any(isinstance(each, dict) for each in objects):
        return None
    for each in objects:
        if isinstance(each, dict):
            each.setdefault("schema_revision", 2)
    return json.dumps(changed, ensure_ascii=False)


def _reordered(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _reordered(value[key]) for key in reversed(value)}
    if isinstance(value, list):
        return [_reordered(each) for each in value]
    return value
