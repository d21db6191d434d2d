import asyncio

import pytest

from adk_agent.play.liveness import (
    GIVE_UP_AFTER,
    PROBE_AFTER,
    RETRY_TIMEOUT_FACTOR,
    LivenessMonitor,
)
from adk_agent.results.summary import TrialRow
from tau_bridge.errors import AgentTimeoutError


def trial(fault="infrastructure", participant="http://a", termination="infrastructure_error"):
    return TrialRow(
        participant=participant,
        domain="mock",
        task_id="t",
        trial=0,
        seed=1,
        status="scored" if fault is None else "failed",
        reward=1.0 if fault is None else None,
        reward_breakdown={},
        reason=None if fault is None else "refused",
        fault=fault,
        termination=termination,
        user="scripted",
        turns=0,
        tool_calls=0,
        format_repairs=0,
        duration_ms=0.0,
        trace_id="x",
    )


def probing(answer):
    asked = []

    async def probe(address, times):
        asked.append(address)
        return answer

    return probe, asked


async def test_an_agent_whose_card_is_gone_is_given_up_after_the_first_probe():
    probe, asked = probing("no connection")
    liveness = LivenessMonitor(probe)
    for _ in range(PROBE_AFTER):
        assert liveness.gone("http://a") is None
        await liveness.on_trial_end(trial())
    assert liveness.gone("http://a") == "not played, because the agent was given up: no connection"
    assert asked == ["http://a"]
    assert liveness.gone("http://b") is None


async def test_an_agent_that_shows_its_card_but_never_replies_is_given_up_later():
    probe, _ = probing(None)
    liveness = LivenessMonitor(probe)
    for _ in range(GIVE_UP_AFTER - 1):
        await liveness.on_trial_end(trial())
    assert liveness.gone("http://a") is None
    await liveness.on_trial_end(trial())
    assert "8 trials in a row gave no reply" in liveness.gone("http://a")


@pytest.mark.parametrize(
    ("fault", "termination"),
    [
        (None, "user_stop"),
        ("agent", "agent_error"),
        ("user", "user_error"),
        ("harness", "harness_error"),
        ("infrastructure", "user_stop"),  # a judge that failed after the conversation
    ],
)
async def test_any_other_end_of_a_trial_starts_the_count_anew(fault, termination):
    probe, asked = probing("no connection")
    liveness = LivenessMonitor(probe)
    for _ in range(3 * PROBE_AFTER):
        await liveness.on_trial_end(trial())
        await liveness.on_trial_end(trial(fault, termination=termination))
    assert liveness.gone("http://a") is None
    assert asked == []


async def test_a_judge_that_keeps_failing_is_no_reason_to_give_up_an_agent():
    probe, asked = probing(None)
    liveness = LivenessMonitor(probe)
    for _ in range(3 * GIVE_UP_AFTER):
        await liveness.on_trial_end(trial("infrastructure", termination="user_stop"))
    assert liveness.gone("http://a") is None
    assert asked == []


@pytest.mark.parametrize("is_there", [True, False])
async def test_an_agent_whose_card_takes_long_is_asked_again_with_more_patience(is_there):
    asked = []

    async def probe(address, times):
        asked.append(times)
        if times < RETRY_TIMEOUT_FACTOR or not is_there:
            raise AgentTimeoutError(address, f"no card within {10 * times:g} s")

    liveness = LivenessMonitor(probe)
    for _ in range(PROBE_AFTER):
        await liveness.on_trial_end(trial())
    assert asked == [1, RETRY_TIMEOUT_FACTOR]
    gone = "not played, because the agent was given up: no card within 60 s"
    assert liveness.gone("http://a") == (None if is_there else gone)


@pytest.mark.parametrize("replies", [True, False])
async def test_trials_that_end_at_once_ask_once_and_a_reply_meanwhile_speaks_for_the_agent(replies):
    asked, answer = [], asyncio.Event()

    async def probe(address, times):
        asked.append(address)
        await answer.wait()
        return "no connection"

    liveness = LivenessMonitor(probe)
    async with asyncio.TaskGroup() as group:
        for _ in range(50):
            group.create_task(liveness.on_trial_end(trial()))
        await asyncio.sleep(0)
        if replies:
            await liveness.on_trial_end(trial(None, termination="user_stop"))
        answer.set()
    assert len(asked) == 1
    assert (liveness.gone("http://a") is None) == replies
