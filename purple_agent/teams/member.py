"""TeamMember: answers one message as a member. Knows A2A only through its peers."""

from __future__ import annotations

import asyncio
import itertools
import time
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from purple_agent.errors import MemberFailedError, PeerFailedError
from purple_agent.teams.answer import final_answer, read_failed, report
from purple_agent.teams.naming import strikes
from purple_agent.teams.plan import OUTSIDE, Ask, FaultKind, Member, Team
from purple_agent.teams.records import read_exercise, read_facts, split_text, with_facts
from purple_agent.teams.skills import SKILLS, apply_skill
from purple_agent.teams.tracing import (
    Place,
    Span,
    Step,
    agent_step,
    nested,
    response_trace,
    tool_step,
)

if TYPE_CHECKING:
    from purple_agent.teams.peers import Peers

SLOW_S = 0.3
"""Seconds that a slow member waits."""


class HangUp(BaseException):
    """Closes the connection without an answer.

    Not an Exception, because the SDK's dispatcher answers those with a JSON-RPC error.
    """


@dataclass(frozen=True, kw_only=True)
class RunConditions:
    """The conditions of a team's run."""

    seed: int = 0
    slow_s: float = SLOW_S
    clock: Callable[[], float] = time.time
    """Seconds since 1970."""
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    new_id: Callable[[], str] = lambda: str(uuid.uuid4())
    """Makes the ids of traces."""


@dataclass(frozen=True, kw_only=True)
class MemberReply:
    """A member's answer and its ResponseTrace."""

    text: str
    trace: dict[str, Any]


@dataclass(kw_only=True)
class _OpenMessage:
    """The state while one message is being answered."""

    exercise: str
    place: Place
    context_id: str
    known: dict[str, str]
    new: dict[str, str] = field(default_factory=dict)
    failed: dict[str, None] = field(default_factory=dict)
    """The failed members, in the order in which that became known."""
    steps: list[Step] = field(default_factory=list)

    def learn(self, facts: dict[str, str]) -> None:
        self.known.update(facts)
        self.new.update(facts)


class TeamMember:
    """One member. Its only state between messages is the number of calls received."""

    def __init__(
        self, member: Member, team: Team, peers: Peers, conditions: RunConditions | None = None
    ) -> None:
        self._member = member
        self._team = team
        self._peers = peers
        self._run = conditions or RunConditions()
        self._numbers = itertools.count(1)

    async def reply(self, text: str, *, place: Place | None, context_id: str) -> MemberReply:
        """Answer one message; `place` is None if it comes from outside the team.

        Raises:
            MemberFailedError: A fault of the team makes this call fail.
            HangUp: A fault of the team drops the connection.
        """
        await self._apply_faults()
        known, exercise = split_text(text)
        visit = _OpenMessage(
            exercise=exercise,
            place=place or Place(caller=OUTSIDE),
            context_id=context_id,
            known=known,
        )
        self._work(visit)
        asks = self._team.script.get((self._member.name, visit.place.caller), ())
        for number, ask in enumerate(asks, 1):
            await self._ask(visit, ask, visit.place.below(self._member.name, number))
        self._work(visit)
        trace = response_trace(self._run.new_id(), visit.steps)
        return MemberReply(text=self._conclusion(visit), trace=trace)

    async def _apply_faults(self) -> None:
        """Apply the faults that hit this call."""
        kinds = strikes(
            self._team.faults,
            seed=self._run.seed,
            member=self._member.name,
            number=next(self._numbers),
        )
        if FaultKind.SLOW in kinds:
            await self._run.sleep(self._run.slow_s)
        if FaultKind.DROP in kinds:
            raise HangUp
        if FaultKind.FAIL in kinds:
            raise MemberFailedError(f"{self._member.name} cannot work today")

    def _work(self, visit: _OpenMessage) -> None:
        """Use the skills on the known facts; one that finds nothing new adds no step."""
        exercise = read_exercise(visit.exercise)
        for name in self._member.skills:
            start = self._run.clock()
            found = apply_skill(name, exercise, visit.known)
            if found:
                span = Span(start=start, end=self._run.clock())
                visit.steps.append(
                    tool_step(
                        visit.place,
                        span,
                        number=len(visit.steps),
                        tool=SKILLS[name].tool,
                        member=self._member.name,
                        found=found,
                    )
                )
                visit.learn(found)

    async def _ask(self, visit: _OpenMessage, ask: Ask, place: Place) -> None:
        """Make one call of the script and learn from the reply."""
        if ask.max_hops is not None and place.hops > ask.max_hops:
            return
        text = self._request(visit, ask, place)
        start = self._run.clock()
        reply, error = None, None
        try:
            reply = await self._peers.ask(
                ask.callee, text, place=place, context_id=visit.context_id
            )
        except PeerFailedError as exc:
            error = str(exc)
            visit.failed[ask.callee] = None
        visit.steps.append(
            agent_step(
                place,
                Span(start=start, end=self._run.clock()),
                callee=ask.callee,
                url=self._peers.home(ask.callee),
                request=text,
                response=reply.text if reply else None,
                error=error,
            )
        )
        if reply is not None:
            visit.steps += nested(reply.steps, parent=place.step)
            visit.learn(read_facts(reply.text))
            visit.failed |= dict.fromkeys(read_failed(reply.text))

    def _request(self, visit: _OpenMessage, ask: Ask, place: Place) -> str:
        if ask.verbatim:
            return visit.exercise
        callee = next(member for member in self._team.members if member.name == ask.callee)
        wanted = ", ".join(callee.skills).replace("_", " ") or "whatever it can find out"
        opening = f"Step {place.step}: {place.caller} asks {ask.callee} for {wanted}."
        return with_facts(opening, visit.known, visit.exercise)

    def _conclusion(self, visit: _OpenMessage) -> str:
        failed = () if self._member.discreet else tuple(visit.failed)
        if visit.place.caller == OUTSIDE:
            return final_answer(read_exercise(visit.exercise), visit.known, failed)
        return report(visit.new, failed)
