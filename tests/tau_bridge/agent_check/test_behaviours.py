"""The whole catalogue of behaviours, each checked: an agent that gives no reply is never ready."""

import asyncio
from dataclasses import replace

import pytest

from tau_bridge.a2a.limits import MessengerLimits
from tau_bridge.agent_check.checking import check_agent
from tau_bridge.errors import (
    AgentRejectedError,
    AgentReplyTooLargeError,
    AgentSilentError,
    AgentTimeoutError,
)
from tests.fakes.behaviours import CATALOGUE

pytestmark = pytest.mark.slow

LIMITS = MessengerLimits(
    timeout_s=5.0,
    cancel_timeout_s=0.1,
    settle_s=0.01,
    poll_interval_s=0.001,
    retry_wait_s=0.001,
)
IMPATIENT = replace(LIMITS, timeout_s=1.0, card_timeout_s=0.5, max_events=300)
"""For agents that never come to an end."""

BOUND_S = 60.0
READY = (AgentRejectedError,)
"""Errors by which an agent refuses what is not its task."""


@pytest.mark.parametrize("behaviour", CATALOGUE, ids=lambda each: each.name.replace(" ", "-"))
async def test_an_agent_is_ready_only_if_it_gives_a_reply(behaviour, target, of):
    endless = (AgentReplyTooLargeError, AgentSilentError, AgentTimeoutError)
    limits = IMPATIENT if behaviour.error in endless else LIMITS
    async with asyncio.timeout(BOUND_S), behaviour.serving() as url:
        result = await check_agent(target(url, limits=limits))
    if behaviour.error is None:
        interfaces = next(each for each in result.checks if each.name == "interfaces")
        assert interfaces.status in ("ok", "warning"), of(result, "interfaces")
    else:
        assert (result.verdict == "ready") is (behaviour.error in READY)
