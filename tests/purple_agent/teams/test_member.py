"""What one member does with a message; its peers are other members in the same test."""

import asyncio
import itertools
import json

import pytest

from purple_agent.errors import MemberFailedError, PeerFailedError
from purple_agent.teams.member import HangUp, RunConditions, TeamMember
from purple_agent.teams.naming import parse_team
from purple_agent.teams.peers import PeerReply
from purple_agent.teams.tracing import MAX_TEXT


class Company:
    """A team in memory: its members are each other's peers."""

    def __init__(self, name, conditions=None):
        self.team = parse_team(name)
        self.members = {
            member.name: TeamMember(member, self.team, self, conditions)
            for member in self.team.members
        }

    def home(self, name):
        return f"http://{name}.example"

    async def ask(self, callee, text, *, place, context_id):
        try:
            said = await self.members[callee].reply(text, place=place, context_id=context_id)
        except MemberFailedError as exc:
            raise PeerFailedError(str(exc)) from exc
        return PeerReply(text=said.text, steps=said.trace["steps"])

    async def answer(self, text):
        entry = self.members[self.team.entry]
        return await entry.reply(text, place=None, context_id="c")


def ticking():
    """Conditions under which each look at the clock is a second later."""
    seconds, ids = itertools.count(1_700_000_000), itertools.count(1)
    return RunConditions(clock=lambda: float(next(seconds)), new_id=lambda: f"trace-{next(ids)}")


async def test_the_same_message_gives_the_same_answer_and_trace_byte_for_byte(exercise_list):
    prompt = exercise_list[-1].prompt
    said = [await Company("team:hierarchy15", ticking()).answer(prompt) for _ in range(2)]
    assert json.dumps(said[0].trace) == json.dumps(said[1].trace)
    assert said[0].text == said[1].text


async def test_a_slow_member_waits_before_it_works(exercise_list):
    waited = []

    async def sleep(seconds):
        waited.append(seconds)

    company = Company("team:slow4", RunConditions(sleep=sleep, slow_s=7.5))
    await company.answer(exercise_list[0].prompt)
    assert waited == [7.5]


async def test_a_member_that_drops_hangs_up():
    with pytest.raises(HangUp):
        await Company("team:star5+drop:lead").answer("Hi")


async def test_a_fault_with_a_share_strikes_the_same_calls_for_the_same_seed(exercise_list):
    async def outcomes(seed):
        company = Company("team:star5+fail:care@0.5", RunConditions(seed=seed))
        said = [await company.answer(exercise_list[0].prompt) for _ in range(40)]
        return ["care" in one.text for one in said]

    first = await outcomes(1)
    assert first == await outcomes(1)
    assert first != await outcomes(2)
    assert 5 < sum(first) < 35


async def test_messages_at_once_do_not_share_what_is_known(exercise_list):
    company = Company("team:tree7")
    said = await asyncio.gather(*(company.answer(one.prompt) for one in exercise_list))
    for exercise, one in zip(exercise_list, said, strict=True):
        assert exercise.grade(one.text).components[0].outcome.value == 1


async def test_long_answers_are_shortened_in_a_step(exercise_list):
    said = await Company("team:chain4").answer(exercise_list[-1].prompt)
    texts = [step["additional_attributes"].get("response", "") for step in said.trace["steps"]]
    assert max(map(len, texts)) <= MAX_TEXT
