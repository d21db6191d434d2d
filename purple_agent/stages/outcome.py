"""Stage 9, the outcome record: rates the reply and remembers the case."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace

from anyio import to_thread

from purple_agent.case import BudgetLevel, Case, Entry, Quality, Say, Session
from purple_agent.memory.cases import CaseMemory, CaseMemoryError, CaseRecord
from purple_agent.memory.masking import MAX_CHARACTERS
from purple_agent.memory.transcript import current_turn
from purple_agent.process.machine import State
from purple_agent.stages.memory import UNAVAILABLE, remembers
from purple_agent.writes.gate import RefusedCall

logger = logging.getLogger(__name__)

ANSWER_WEIGHT, TOOLS_WEIGHT, POLICY_WEIGHT = 0.35, 0.35, 0.30
CALL_COST = 0.05
"""Deduction from the tools score for each call after the first."""
LEAST_ECONOMY = 0.2
"""The lowest factor, however many calls were made."""
MIN_WORDS = 3
"""A shorter request, such as a bare "yes", is not worth remembering."""


class OutcomeStage:
    """Rates the reply and remembers the case.

    Args:
        memory: The memory; None to remember nothing.
    """

    def __init__(self, memory: CaseMemory | None = None) -> None:
        self._memory = memory

    async def __call__(self, case: Case) -> Case:
        """Rate the reply. If the memory cannot be written, add a flag."""
        judged = replace(case, quality=quality_of(case))
        record = _record(judged)
        if record is None or self._memory is None:
            return judged
        if not remembers(self._memory, case.session.dialect):
            return judged
        try:
            await to_thread.run_sync(self._memory.add, record)
        except CaseMemoryError as exc:
            logger.warning("%s", exc)
            flags = case.flags if UNAVAILABLE in case.flags else (*case.flags, UNAVAILABLE)
            return replace(judged, flags=flags)
        return judged


def quality_of(case: Case) -> Quality:
    """Return the agent's own opinion of its reply.

    The total is the mean of the scores that are not None, weighted by .35 (answer), .35 (tools) and
    .30 (policy). Calls that the gate refused do not count as calls.

    - answer: 1; 0.5 if the process failed or the budget was used up; 0 without a reply, or if the
      reply says that nothing could be done.
    - tools: the share of this turn's calls that did not fail, times 1 minus .05 for each call after
      the first (at least .2); None without calls.
    - policy: the share of this turn's writes that did not fail; None without writes.
    """
    answer = _answer(case)
    tools, policy = _calls(case.session, current_turn(case.session.entries))
    weighed = ((answer, ANSWER_WEIGHT), (tools, TOOLS_WEIGHT), (policy, POLICY_WEIGHT))
    there = [(score, weight) for score, weight in weighed if score is not None]
    total = sum(score * weight for score, weight in there) / sum(weight for _, weight in there)
    return Quality(answer=answer, tools=tools, policy=policy, total=round(total, 4))


def _answer(case: Case) -> float:
    reply = case.reply
    if reply is None or (isinstance(reply, Say) and (reply.unable or not reply.text.strip())):
        return 0.0
    fell_short = case.session.process.state is State.FAILED or case.budget_level is BudgetLevel.NONE
    return 0.5 if fell_short else 1.0


def _calls(session: Session, turn: Sequence[Entry]) -> tuple[float | None, float | None]:
    """Return the scores of tools and policy. Calls that the gate refused do not count."""
    results = {entry.call.id: entry.result for entry in turn if entry.call and entry.result}
    refused = {key for key, result in results.items() if isinstance(result, RefusedCall)}
    failed = {key for key, result in results.items() if result.failed}
    calls = (entry.call for entry in turn if entry.role == "call" and entry.call is not None)
    called = [call for call in calls if call.id not in refused]
    writes = [
        call.id for call in called if (spec := session.spec(call.name)) is None or spec.is_write
    ]
    if not called:
        return None, None
    economy = max(LEAST_ECONOMY, 1 - CALL_COST * (len(called) - 1))
    succeeded = sum(call.id not in failed for call in called) / len(called)
    kept = sum(call not in failed for call in writes) / len(writes) if writes else None
    return round(succeeded * economy, 4), None if kept is None else round(kept, 4)


def _record(case: Case) -> CaseRecord | None:
    """Return the case for the memory; None if there is nothing to learn from it."""
    request = case.incoming.text[:MAX_CHARACTERS]
    if not isinstance(case.reply, Say) or not case.reply.text.strip() or case.quality is None:
        return None
    if case.reply.unable or len(request.split()) < MIN_WORDS:
        return None
    return CaseRecord(
        request=request,
        answer=case.reply.text[:MAX_CHARACTERS],
        process=case.session.process.kind,
        quality=case.quality.total,
    )
