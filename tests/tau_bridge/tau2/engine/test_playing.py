"""Trials that the official engine plays: here a tiny engine, with the real worker."""

import asyncio
import os
import signal

import pytest

from evals.outcome import TaskResult
from evals.reward import reward_of
from tau_bridge.completion import CompletionResult
from tau_bridge.errors import AgentFailedError, AgentUnreachableError, HarnessError
from tau_bridge.tau2.engine.process import EngineLimits
from tests.tau_bridge.tau2.engine.conftest import Agent, call, say

BYE = say("That is done. Is there anything else I can help you with?")


async def reward(benchmark, played):
    return reward_of(await benchmark.score(benchmark.ref("mock", "a"), played, None))


async def test_a_trial_is_played_and_scored_by_the_engine(bell, play):
    agent = Agent(call("ring"), BYE)
    played, trace = await play(bell, agent)
    assert (played.termination, played.user, played.error) == ("user_stop", "scripted", None)
    assert (played.turns, played.tool_calls) == (played.messages[-2]["turn_idx"] // 2, 1)
    assert [each["role"] for each in played.messages[:4]] == [
        *["assistant", "user", "assistant", "tool"]
    ]
    assert (await reward(bell, played)).value == 1
    assert agent.heard[0].startswith("Ring once.\n")
    assert '"name": "break_down"' in agent.heard[0]
    assert agent.heard[1] == "rung"
    (step,) = [each for each in trace.steps if each.callee == "ring"]
    assert (step.caller, step.response_text, step.error) == ("http://agent.test/", "rung", None)


async def test_what_engine_and_tools_print_is_no_message(bell, play):
    played, _ = await play(bell, Agent(call("shout"), BYE))
    assert played.error is None
    assert (await reward(bell, played)).value == 0


async def test_a_tool_that_fails_is_a_step_with_its_error(bell, play):
    played, trace = await play(bell, Agent(call("break_down"), BYE))
    (step,) = [each for each in trace.steps if each.callee == "break_down"]
    assert step.error == "Error: the bell is broken"
    with pytest.raises(HarnessError, match=r"while scoring: ValueError: this cannot be scored"):
        await reward(bell, played)


async def test_the_users_model_is_asked_here_and_its_calls_are_steps(bell, play):
    asked = []

    async def completion(messages, *, tools=()):
        asked.append(list(messages))
        said = "Ring, please." if len(asked) == 1 else "###STOP###"
        return CompletionResult(content=said, model="test/user", total_tokens=7, cost=0.5)

    played, trace = await play(bell, Agent(call("ring"), BYE), completion=completion)
    assert (played.termination, played.user) == ("user_stop", "llm:test/user")
    assert asked[0] == [{"role": "assistant", "content": "Hi! How can I help you today?"}]
    assert [each.total_tokens for each in trace.steps if each.callee == "test/user"] == [7, 7]
    assert (await reward(bell, played)).value == 1


async def test_a_users_model_that_fails_is_the_users_fault(bell, play):
    async def completion(messages, *, tools=()):
        raise RuntimeError("no credit")

    played, _ = await play(bell, Agent(BYE), completion=completion)
    assert (played.termination, played.error.fault) == ("user_error", "user")
    assert "no credit" in str(played.error)


@pytest.mark.parametrize(
    ("error", "termination"),
    [
        (AgentFailedError("http://agent.test/", "it gave up"), "agent_error"),
        (AgentUnreachableError("http://agent.test/", "refused"), "infrastructure_error"),
    ],
)
async def test_an_agent_that_fails_ends_the_trial_as_with_our_own_engine(
    bell, play, error, termination
):
    played, _ = await play(bell, Agent(call("ring"), error))
    assert (played.termination, played.error) == (termination, error)
    assert [each["role"] for each in played.messages] == ["assistant", "user", "assistant", "tool"]
    result = await bell.score(bell.ref("mock", "a"), played, None)
    assert result == TaskResult(basis=("DB",), components=(), premature_end=termination)


async def test_an_agent_that_sends_nothing_has_reward_0(bell, play):
    played, _ = await play(bell, Agent(say("  ")))
    assert (played.termination, played.error, played.turns) == ("agent_error", None, 1)
    assert played.messages[-1]["role"] == "assistant"


async def test_a_process_that_is_killed_in_mid_trial_fails_that_trial_alone(bell, play):
    (fallen, trace), (whole, _) = await asyncio.gather(
        play(bell, Agent(call("crash"))), play(bell, Agent(call("ring"), BYE))
    )
    assert fallen.termination == "infrastructure_error"
    assert isinstance(fallen.error, HarnessError)
    assert "was killed by signal 9 (SIGKILL)" in str(fallen.error)
    assert [each["role"] for each in fallen.messages] == ["assistant", "user", "assistant"]
    (step,) = [each for each in trace.steps if each.callee == "crash"]
    assert step.error == "the conversation ended before its result came"
    assert whole.error is None
    again, _ = await play(bell, Agent(call("ring"), BYE))
    assert (await reward(bell, again)).value == 1


async def test_a_process_that_hangs_is_stopped_and_the_next_trial_is_played(
    opened, interpreter, play
):
    benchmark = opened(interpreter(), limits=EngineLimits(start_s=60, silence_s=2, ping_s=30))
    played, _ = await play(benchmark, Agent(call("hang")))
    assert "computed for 2 s without a word" in str(played.error)
    assert played.termination == "infrastructure_error"
    again, _ = await play(benchmark, Agent(call("ring"), BYE))
    assert again.error is None


async def test_a_message_that_is_too_long_fails_its_trial(bell, play):
    played, _ = await play(bell, Agent(call("grow")))
    assert "is longer than 16777216" in str(played.error)
    assert played.error.fault == "harness"


async def test_when_the_engine_itself_is_killed_the_next_trial_starts_it_again(
    opened, interpreter, play
):
    benchmark = opened(interpreter())
    benchmark.prepare([benchmark.ref("mock", "a")])
    os.kill(benchmark.engine._process._process.pid, signal.SIGKILL)
    benchmark.engine._process._reader.join()
    played, _ = await play(benchmark, Agent(call("ring"), BYE))
    assert (await reward(benchmark, played)).value == 1
    await benchmark.aclose()
    assert benchmark.engine._process is None


async def test_a_canceled_trial_leaves_no_process_behind(bell, play):
    waiting = asyncio.Event()

    class Slow:
        async def send(self, text):
            waiting.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(play(bell, Slow()))
    await waiting.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    played, _ = await play(bell, Agent(call("ring"), BYE))
    assert played.error is None


async def test_two_runs_share_the_process_until_both_have_ended(opened, interpreter):
    benchmark = opened(interpreter())
    other = benchmark.with_options({"engine": "official", "evaluation_type": "action"})
    for each in (benchmark, other):
        each.prepare([each.ref("mock", "a")])
    await benchmark.aclose()
    assert other.engine._process.alive
    await other.aclose()
    assert other.engine._process is None
