"""team_calls: who asked whom in a team, as far as that can be seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from evals.trace import ASSESSOR, NOT_BELIEVED, CallType
from tau_bridge.task_files.asks import TeamCall

if TYPE_CHECKING:
    from tau_bridge.a2a.conversation import Conversation
    from tau_bridge.benchmark import PlayContext


async def team_calls(agent: Conversation, context: PlayContext) -> Sequence[TeamCall] | None:
    """Return the calls between members, in the order of their beginning; None: not visible.

    They are those that the proxy saw. Where it saw none, those that were reported count, as in the
    metrics. A team of which neither could be seen may have worked together or not.

    Args:
        agent: The conversation that has ended.
        context: That of its trial.
    """
    if context.trace is None:
        return None
    trace = await context.trace()
    found = [
        TeamCall(caller=step.caller, callee=step.callee, text=step.request_text or "")
        for step in trace.steps
        if step.call_type is CallType.AGENT
        and not step.from_outside
        and step.caller != ASSESSOR
        and NOT_BELIEVED not in step.additional_attributes
    ]
    visible = found or context.team.is_observed or agent.reports
    return found if visible else None
