"""Turns: a trace, or a log of messages, as what was said one after the other. Pure.

A call between agents is two turns: the request, by the caller, and the reply, by the callee. What
the user and the tools say is *given*: nobody in the team answers for it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from evals.attribution.values import named_values
from evals.trace import NOT_BELIEVED, CallType, InteractionStep, Provenance, Trace

MAX_TURNS = 5_000
"""Turns of one trace that are looked at."""

LEAST_LED = 8
"""Turns from which on a chat can be said to be led by one agent."""

TurnKind = Literal["given", "tool", "request", "reply", "answer", "message"]
"""`answer`: the reply of the team to the outside. `message`: one of a log, in which each is alone."""


@dataclass(frozen=True, kw_only=True)
class Turn:
    """One thing that was said, or that should have been."""

    step_id: str
    agent: str
    kind: TurnKind
    text: str
    """The speaker's own words."""
    error: str | None = None
    """Reason that there is no reply."""
    silent: bool = False
    """True if it is known to hold nothing; an empty text alone may only not have been recorded."""
    stands_over: frozenset[str] = frozenset()
    """Ids of the calls that were made to answer it; only a reply has any."""
    hearer: str = ""
    """Receiver of a request or a reply."""
    asked: str = ""
    """Request that a reply answers."""
    heard: Sequence[str] = ()
    """Replies to the calls that were made to answer it; only a reply has any."""
    plan: str = ""
    """A plan that was handed to the speaker with the task."""

    @property
    def is_own(self) -> bool:
        """Tell whether an agent answers for it."""
        return self.kind not in ("given", "tool")

    @property
    def is_reply(self) -> bool:
        """Tell whether it answers a request."""
        return self.kind in ("reply", "answer")


@dataclass(frozen=True, kw_only=True)
class Log:
    """Turns in order, and what is known of their outcome."""

    turns: Sequence[Turn]
    answer: str | None = None
    """The last answer."""
    expected: str | None = None
    """The right answer; None where it is unknown."""
    departed_at: str | None = None
    """The step at which the work left the gold path, where that is known."""

    @property
    def agents(self) -> list[str]:
        """Return those who said something, in the order of their first words."""
        return list(dict.fromkeys(turn.agent for turn in self.turns if turn.is_own))

    @cached_property
    def leader(self) -> str | None:
        """Return the agent that has half of the turns or more in a chat; None if nobody leads."""
        said = Counter(turn.agent for turn in self.turns if turn.kind == "message")
        if len(said) < 2 or said.total() < LEAST_LED:
            return None
        agent, turns = said.most_common(1)[0]
        return agent if turns * 2 >= said.total() else None

    @cached_property
    def task(self) -> str:
        """Return what the user asked for."""
        return next((turn.text for turn in self.turns if turn.kind == "given"), "")

    @cached_property
    def new_rows(self) -> Sequence[Sequence[tuple[str, str]]]:
        """Return for each turn its rows `name: value` that stand in none before it.

        What tools say does not count, since their users pass it on.
        """
        seen: set[tuple[str, str]] = set()
        found = []
        for turn in self.turns:
            rows = list(dict.fromkeys(named_values(turn.text)))
            found.append([row for row in rows if row not in seen])
            if turn.kind != "tool":
                seen.update(rows)
        return found


def turns_of_trace(trace: Trace) -> list[Turn]:
    """Return the turns of a trace, nested calls between the request and the reply above them."""
    steps = [step for step in trace.steps if NOT_BELIEVED not in step.additional_attributes]
    known = {step.step_id for step in steps}
    below: dict[str | None, list[InteractionStep]] = defaultdict(list)
    for step in steps:
        below[step.parent_step_id if step.parent_step_id in known else None].append(step)
    return list(_walk(below))


def _walk(below: dict[str | None, list[InteractionStep]]) -> Iterator[Turn]:
    """Yield the turns depth first, without recursion; steps in a circle of parents are not met."""
    stack: list[tuple[InteractionStep, bool]] = [(step, False) for step in reversed(below[None])]
    count = 0
    while stack and count < MAX_TURNS:
        step, done = stack.pop()
        count += 1
        if step.call_type is CallType.TOOL:
            yield Turn(
                step_id=step.step_id,
                agent=step.caller,
                kind="tool",
                text=step.response_text or "",
                error=step.error,
            )
        elif step.call_type is CallType.AGENT and done:
            yield _reply(step, below)
        elif step.call_type is CallType.AGENT:
            yield from _request(step)
            stack.append((step, True))
        if not done:
            stack.extend((each, False) for each in reversed(below.get(step.step_id, [])))


def _ids_below(
    step: InteractionStep, below: dict[str | None, list[InteractionStep]]
) -> frozenset[str]:
    found: set[str] = set()
    open_ = [step.step_id]
    while open_ and len(found) < MAX_TURNS:
        for each in below.get(open_.pop(), []):
            if each.step_id not in found and each.call_type is CallType.AGENT:
                found.add(each.step_id)
                open_.append(each.step_id)
    return frozenset(found)


def _request(step: InteractionStep) -> Iterator[Turn]:
    if step.request_text:
        kind: TurnKind = "given" if step.from_outside else "request"
        yield Turn(
            step_id=step.step_id,
            agent=step.caller,
            kind=kind,
            text=step.request_text,
            hearer=step.callee,
        )


def _reply(step: InteractionStep, below: dict[str | None, list[InteractionStep]]) -> Turn:
    called = (each for each in below.get(step.step_id, []) if each.call_type is CallType.AGENT)
    return Turn(
        step_id=step.step_id,
        agent=step.callee,
        kind="answer" if step.from_outside else "reply",
        text=step.response_text or "",
        error=step.error,
        silent=_is_silent(step),
        stands_over=_ids_below(step, below),
        hearer=step.caller,
        asked=step.request_text or "",
        heard=[each.response_text for each in called if each.response_text],
    )


def _is_silent(step: InteractionStep) -> bool:
    """Tell whether a call is known to have been answered with nothing."""
    if step.error is not None or (step.response_text or "").strip():
        return False
    return step.response_text is not None or step.provenance is Provenance.OBSERVED
