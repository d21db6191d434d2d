"""Finds the agents that cannot be called, before anything is played."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Mapping

from adk_agent.core.errors import PreflightError
from adk_agent.core.plan import EvaluationPlan
from adk_agent.results.summary import CEILING, FLOOR
from tau_bridge.a2a.messenger import Messenger
from tau_bridge.errors import AgentError


async def unready_agents(
    plan: EvaluationPlan, messenger: Messenger, urls: Mapping[str, str]
) -> dict[str, str]:
    """Return each participant whose card cannot be had, with why. The others are played.

    Args:
        plan: What is played.
        messenger: Fetches the cards, and keeps them.
        urls: Each participant's address in the plan, with the one where it answers.

    Raises:
        PreflightError: No agent is ready but the floor and the ceiling, or a team is not complete.
    """
    cards = await asyncio.gather(
        *(messenger.card(url) for url in urls.values()), return_exceptions=True
    )
    problems: dict[str, str] = {}
    for address, card in zip(urls, cards, strict=True):
        if isinstance(card, AgentError):
            problems[address] = str(card)
        elif isinstance(card, BaseException):
            raise card
    ready = urls.keys() - problems.keys() - {FLOOR, CEILING}
    if problems and (plan.members or not ready):
        raise PreflightError(
            "cannot evaluate, because an agent is not ready:\n"
            + "\n".join(f"  {address}: {problem}" for address, problem in problems.items())
            + f"\n{_to_see_more(problems)}"
        )
    return problems


def _to_see_more(problems: Mapping[str, str]) -> str:
    return f"to see more: greenroom check {shlex.quote(next(iter(problems)))}"
