"""Finds the agents that cannot be called, before anything is played."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from adk_agent.core.errors import PreflightError
from adk_agent.core.plan import EvaluationPlan
from adk_agent.results.summary import CEILING, FLOOR
from tau_bridge.a2a.cards import AgentCardInfo
from tau_bridge.a2a.messenger import Messenger
from tau_bridge.clock import Clock
from tau_bridge.errors import AgentError


@dataclass(frozen=True, kw_only=True)
class Preflight:
    """Each participant whose card cannot be had, with why, and what is odd about the others."""

    unready: Mapping[str, str]
    warnings: tuple[str, ...]


async def look_at_agents(
    plan: EvaluationPlan, messenger: Messenger, urls: Mapping[str, str], clock: Clock
) -> Preflight:
    """Fetch every participant's card. Those whose card can be had are played.

    Args:
        plan: What is played.
        messenger: Fetches the cards, and keeps them.
        urls: Each participant's address in the plan, with the one where it answers.
        clock: For the time that it takes.

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
    signed = [
        address
        for address, card in zip(urls, cards, strict=True)
        if isinstance(card, AgentCardInfo) and card.is_signed and "://" in address
    ]
    return Preflight(
        unready=problems, warnings=tuple(await _broken_signatures(signed, messenger, clock))
    )


async def _broken_signatures(
    addresses: Sequence[str], messenger: Messenger, clock: Clock
) -> list[str]:
    from tau_bridge.agent_check.signed_cards import signature_problem  # for signed cards only

    found = await asyncio.gather(
        *(
            signature_problem(
                each,
                credentials=messenger.credentials_of(each),
                policy=messenger.policy,
                clock=clock,
            )
            for each in addresses
        )
    )
    return [
        f"the card of {address} is signed, and not as it should be: {problem}; it may not be whose"
        " it says it is"
        for address, problem in zip(addresses, found, strict=True)
        if problem is not None
    ]


def _to_see_more(problems: Mapping[str, str]) -> str:
    return f"to see more: greenroom check {shlex.quote(next(iter(problems)))}"
