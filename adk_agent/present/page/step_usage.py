"""usage_rows: the tokens and the cost of a trial's steps, by who told them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from adk_agent.core.spending import NOTHING_SPENT, Spending
from evals.trace import ASSESSOR, CallType, InteractionStep, Provenance, Trace
from tau_bridge.completion import COMPLETION

REPLIES = "the agent's replies, as the agent reported"
INSIDE = "steps inside of the agent, as they were reported"
OWN = "the assessor's own models"


def usage_rows(trace: Trace) -> Iterator[dict[str, Any]]:
    """Yield a row for each source that told tokens or a cost; sources are never added up.

    A row has `who`, `tokens` and `cost` in US dollars, `told`, the number of steps whose usage is
    known, and `steps`, the number of all. Of a step that has a figure of its own, those nested in
    it with the same source are not counted again.
    """
    known = {step.step_id: step for step in trace.steps}
    for who in (REPLIES, INSIDE, OWN):
        steps = [step for step in trace.steps if _who(step) == who]
        spent = sum(
            (
                Spending.of_call(step.total_tokens, step.cost)
                for step in steps
                if _has_usage(step) and not _is_counted_above(step, who, known)
            ),
            NOTHING_SPENT,
        )
        told = sum(map(_has_usage, steps))
        if told:
            yield {
                "who": who,
                "tokens": spent.known_tokens,
                "cost": spent.known_cost,
                "told": told,
                "steps": len(steps),
            }


def _who(step: InteractionStep) -> str:
    if step.name == COMPLETION and step.provenance is Provenance.OBSERVED:
        return OWN
    is_reply = step.call_type is CallType.AGENT and step.caller == ASSESSOR
    return REPLIES if is_reply else INSIDE


def _has_usage(step: InteractionStep) -> bool:
    return step.total_tokens is not None or step.cost is not None


def _is_counted_above(step: InteractionStep, who: str, known: dict[str, InteractionStep]) -> bool:
    """Tell whether a step around this one has a figure of the same source."""
    seen = {step.step_id}
    while (above := known.get(step.parent_step_id or "")) and above.step_id not in seen:
        if _who(above) == who and _has_usage(above):
            return True
        seen.add(above.step_id)
        step = above
    return False
