"""Stage 7, the reasoner: asks it for the next step, makes the calls, and records the results."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

from purple_agent import facts, wire
from purple_agent.case import (
    BudgetLevel,
    Case,
    Dialect,
    Entry,
    Reply,
    Say,
    Session,
    ToolCall,
    ToolResult,
    ToolSpec,
)
from purple_agent.policy.hashing import hash_policy
from purple_agent.process.machine import Evidence, Sign, State
from purple_agent.reasoners.reasoner import DETERMINISTIC, Reasoner
from purple_agent.toolbox.control import control_of
from purple_agent.toolbox.failures import CallFailure, Cause, cause_of
from purple_agent.toolbox.repair import repaired
from purple_agent.writes.approvals import evidence_of
from purple_agent.writes.gate import RefusedCall, decide, refusal

logger = logging.getLogger(__name__)

MAX_ROUNDS: Final = 20
"""Most rounds of the reasoner for one message."""
MAX_SAME: Final = 3
"""Number of identical calls for one message at which the loop ends."""
MOST_TOLD: Final = 10
"""Most changes to name in a reply."""

BUDGET: Final = "The budget for language models is exhausted, so I cannot think about this further."
LATE: Final = "I ran out of time before I could finish this."
LONG: Final = "This took more steps than I may take for one request, so I stopped."
CIRCLING: Final = "I was repeating the same step without getting any further, so I stopped."
NO_TOOLS: Final = "There are no tools that could be called."
UNSURE: Final = "No answer came in time. It is not known whether this was carried out."
BROKEN: Final = "Something went wrong on my side, so I stopped."
AGAIN: Final = "It is not known whether this was already carried out. Look it up first."


class ReasonerStage:
    """Asks the reasoner until it has words for the user; on the τ² wire a call is a reply too.

    Everything said and done is added to the session. A write is made only if the gate lets it pass;
    a refused one becomes a failed result for the reasoner. If time, rounds or budget run out, the
    reply says what was done and that the rest was not.

    Args:
        reasoner: Decides on each reply.
        deadline_s: Seconds that the loop may take for one message.
        monotonic: Returns seconds of a monotonic clock.
        level: Returns a session's budget level before each round after the first; None to use the
            case's level for the whole message. It does not limit the deterministic reasoner.
    """

    def __init__(
        self,
        reasoner: Reasoner,
        *,
        deadline_s: float,
        monotonic: Callable[[], float] = time.monotonic,
        level: Callable[[Session], BudgetLevel] | None = None,
    ) -> None:
        self._reasoner = reasoner
        self._deadline_s = deadline_s
        self._monotonic = monotonic
        self._level = level

    async def __call__(self, case: Case) -> Case:
        """Add a reply and its author. Never raises for an error of a tool or a model."""
        session = case.session
        _pin_wire_policy(case)
        _file_wire_results(session)
        turn = _Turn(end=self._monotonic() + self._deadline_s)
        try:
            async with asyncio.timeout(self._deadline_s):
                case, reply = await self._think(case, turn)
        except TimeoutError:
            reply = _stopped(LATE, turn)
        except Exception:
            # Whatever failed, the reply must report the changes made before.
            logger.exception("the reasoner failed")
            reply = _stopped(BROKEN, turn)
        _conclude(session, reply, turn)
        flags = (*case.flags, *self._reasoner.flags(session))
        return replace(case, reply=reply, author=self._reasoner.author(session), flags=flags)

    async def _think(self, case: Case, turn: _Turn) -> tuple[Case, Reply]:
        session = case.session
        for number in range(MAX_ROUNDS):
            if self._monotonic() >= turn.end:
                return case, _stopped(LATE, turn)
            case = self._with_means(case, number)
            if (
                case.budget_level is BudgetLevel.NONE
                and self._reasoner.author(session) != DETERMINISTIC
            ):
                return case, _stopped(BUDGET, turn)
            reply = await self._reasoner.next(case)
            if isinstance(reply, Say):
                return case, reply
            if turn.is_stuck_on(reply.call):
                return case, _stopped(CIRCLING, turn)
            if session.dialect is Dialect.TAU2:
                session.entries.append(Entry(role="call", call=reply.call))
                return case, reply
            # The gate must judge the call that would be made, not the reasoner's wording of it.
            call = repaired(reply.call, session.specs).call
            session.entries.append(Entry(role="call", call=call))
            await self._make(session, call, turn)
        return case, _stopped(LONG, turn)

    def _with_means(self, case: Case, number: int) -> Case:
        if number == 0 or self._level is None:
            return case
        return replace(case, budget_level=case.budget_level.lesser(self._level(case.session)))

    async def _make(self, session: Session, call: ToolCall, turn: _Turn) -> None:
        """Make a call if it is allowed, and add its result."""
        spec = session.spec(call.name)
        decide(session, call)
        refused = _why_not(session, call, spec, turn)
        if session.tools is None or refused is not None:
            unmade = CallFailure(text=NO_TOOLS, cause=Cause.UNSENT)
            _enter(session, call, refused or unmade)
            return
        try:
            result = await session.tools.call(call)
        except asyncio.CancelledError:
            _enter(session, call, CallFailure(text=UNSURE, cause=Cause.WAY))
            if spec is not None and spec.is_write:
                turn.is_unsure_of(call)
            raise
        _enter(session, call, result)
        _learn(session, call, spec, result, turn)


@dataclass(kw_only=True)
class _Turn:
    """The events of one message."""

    end: float
    made: Counter[str] = field(default_factory=Counter)
    changed: list[ToolCall] = field(default_factory=list)
    unsure: list[ToolCall] = field(default_factory=list)
    blind: list[ToolCall] = field(default_factory=list)
    """Unsure writes whose records have not been read since."""

    def is_unsure_of(self, call: ToolCall) -> None:
        """Record a write that may or may not have been made."""
        self.unsure.append(call)
        self.blind.append(call)

    def is_blind_to(self, call: ToolCall) -> bool:
        """Tell whether the same write may already have been made and was not checked since."""
        return any(
            each.name == call.name and dict(each.arguments) == dict(call.arguments)
            for each in self.blind
        )

    def is_stuck_on(self, call: ToolCall) -> bool:
        """Count a call, and tell whether it has been requested too often."""
        arguments = json.dumps(call.arguments, sort_keys=True, default=repr)
        key = f"{call.name} {arguments}"
        self.made[key] += 1
        return self.made[key] >= MAX_SAME


def _why_not(
    session: Session, call: ToolCall, spec: ToolSpec | None, turn: _Turn
) -> CallFailure | None:
    """Return a failed result that says why a call must not be made now; None if it may."""
    if spec is None:
        known = ", ".join(each.name for each in session.specs[:10]) or "none"
        text = f"There is no tool {call.name[:100]!r}; known: {known}."
        return CallFailure(text=text, cause=Cause.UNSENT)
    refused = refusal(session, call)
    if refused:
        return RefusedCall(text=refused)
    return CallFailure(text=AGAIN, cause=Cause.UNSENT) if turn.is_blind_to(call) else None


def _enter(session: Session, call: ToolCall, result: ToolResult) -> None:
    session.entries.append(Entry(role="result", call=call, result=result))


def _pin_wire_policy(case: Case) -> None:
    """Keep the policy of the wire's first message, without which no reasoner may write."""
    session = case.session
    if session.dialect is Dialect.TAU2 and not session.policy_text:
        opening = wire.read_opening(case.incoming.text)
        if opening is not None and opening.policy:
            session.policy_text = opening.policy
            session.policy_hash = hash_policy(opening.policy)


def _file_wire_results(session: Session) -> None:
    """File the result in the wire's last message, because results come with the next message."""
    last = session.entries[-1] if session.entries else None
    if session.dialect is Dialect.BUSINESS or last is None or last.role != "result":
        return
    spec = session.spec(last.call.name) if last.call else None
    if spec is not None and last.result is not None:
        facts.file(session, spec, last.result)


# -- learning from a result --------------------------------------------------------------------


def _learn(
    session: Session, call: ToolCall, spec: ToolSpec | None, result: ToolResult, turn: _Turn
) -> None:
    """Take facts and evidence from a result."""
    control = control_of(call.name)
    if control is not None:
        found = evidence_of(session.process, call, control, result)
        if found is not None:
            session.process = session.process.advance(found)
        return
    if spec is None:
        return
    facts.file(session, spec, result)
    if not spec.is_write:
        turn.blind = [
            each for each in turn.blind if not facts.tells_of(session, each.arguments, call, result)
        ]
    else:
        if not result.failed:
            turn.changed.append(call)
        elif cause_of(result) is Cause.WAY:
            turn.is_unsure_of(call)
        sign = Sign.WRITE_FAILED if result.failed else Sign.WRITTEN
        session.process = session.process.advance(Evidence(sign=sign, detail=call.name))


# -- the end of a turn -------------------------------------------------------------------------


def _stopped(why: str, turn: _Turn) -> Say:
    """Return a reply that says what was done for this message and what was not."""
    parts = [why]
    if turn.changed:
        parts.append(f"Done before that: {_named(turn.changed)}. Nothing else was changed.")
    elif not turn.unsure:
        parts.append("Nothing was changed.")
    if turn.unsure:
        parts.append(f"It is not known whether this was carried out: {_named(turn.unsure)}.")
    return Say(text=" ".join(parts), unable=not turn.changed)


def _named(calls: list[ToolCall]) -> str:
    shown = [
        f"{call.name} ({', '.join(str(value)[:60] for value in call.arguments.values())})"
        for call in calls[:MOST_TOLD]
    ]
    return ", ".join([*shown, "and others"] if len(calls) > MOST_TOLD else shown)


def _conclude(session: Session, reply: Reply, turn: _Turn) -> None:
    """Add the words to the session, and end the process if nothing is left open.

    If nothing could be done, the process has failed.
    """
    if not isinstance(reply, Say):
        return
    session.entries.append(Entry(role="agent", text=reply.text))
    if session.dialect is Dialect.BUSINESS and reply.unable and not turn.changed:
        if session.process.state is State.ASSESS:
            unable = Evidence(sign=Sign.UNABLE, detail="nothing could be done")
            session.process = session.process.advance(unable)
        return
    written = session.process.state is State.POLICY_CHECK and bool(turn.changed)
    informed = session.process.state is State.ASSESS and not reply.text.rstrip().endswith("?")
    if session.dialect is Dialect.BUSINESS and (written or informed):
        session.process = session.process.advance(Evidence(sign=Sign.DONE))
