"""What one member does with a message; its peers are other members in the same test."""

import asyncio
import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from purple_agent.errors import MemberFailedError, PeerFailedError
from purple_agent.teams.answer import final_answer, read_failed, report
from purple_agent.teams.member import Conditions, HangUp, TeamMember
from purple_agent.teams.naming import parse_team
from purple_agent.teams.peers import PeerReply
from purple_agent.teams.records import (
    Exercise,
    read_exercise,
    read_facts,
    split_text,
    with_facts,
)
from purple_agent.teams.skills import SKILLS, apply_skill
from purple_agent.teams.tracing import MAX_TEXT, Place, nested, read_place, steps_of

FACTS = st.dictionaries(
    st.from_regex(r"\A[a-z][a-z ]{0,20}[a-z]\Z"), st.from_regex(r"\A[a-z0-9.,]{1,20}\Z")
)


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
    return Conditions(clock=lambda: float(next(seconds)), new_id=lambda: f"trace-{next(ids)}")


async def test_the_same_message_gives_the_same_answer_and_trace_byte_for_byte(exercise_list):
    prompt = exercise_list[-1].prompt
    said = [await Company("team:hierarchy15", ticking()).answer(prompt) for _ in range(2)]
    assert json.dumps(said[0].trace) == json.dumps(said[1].trace)
    assert said[0].text == said[1].text


async def test_a_slow_member_waits_before_it_works(exercise_list):
    waited = []

    async def sleep(seconds):
        waited.append(seconds)

    company = Company("team:slow4", Conditions(sleep=sleep, slow_s=7.5))
    await company.answer(exercise_list[0].prompt)
    assert waited == [7.5]


async def test_a_member_that_drops_hangs_up():
    with pytest.raises(HangUp):
        await Company("team:star5+drop:lead").answer("Hi")


async def test_a_fault_with_a_share_strikes_the_same_calls_for_the_same_seed(exercise_list):
    async def outcomes(seed):
        company = Company("team:star5+fail:care@0.5", Conditions(seed=seed))
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


@given(st.text())
def test_any_text_can_be_read_as_an_exercise(text):
    exercise = read_exercise(text)
    facts = {}
    for name in SKILLS:
        facts.update(apply_skill(name, exercise, facts))
    assert final_answer(exercise, facts, ())


@given(st.dictionaries(st.sampled_from(["delivered", "weight", "zone", "pieces"]), st.text()))
def test_facts_that_make_no_sense_yield_nothing_but_no_error(facts):
    rows = (("return window", "30 days"), ("lyon", "3 pieces, 2 days to deliver"))
    exercise = Exercise(records=dict.fromkeys(("policy", "stock", "shipping"), rows), questions=())
    for name in SKILLS:
        assert isinstance(apply_skill(name, exercise, facts), dict)


@given(FACTS, st.text())
def test_what_one_member_sends_another_can_read(facts, exercise):
    assert split_text(with_facts("Hello.", facts, exercise)) == (facts, exercise)


@given(FACTS, st.lists(st.from_regex(r"\A[a-z]{1,9}\Z"), max_size=4, unique=True))
def test_a_report_can_be_read_back(facts, failed):
    text = report(facts, failed)
    assert read_facts(text) == facts
    assert list(read_failed(text)) == failed


def test_a_callees_uppermost_steps_come_below_the_call():
    steps = [{"step_id": "1"}, {"step_id": "1.1", "parent_step_id": "1"}, "nonsense"]
    assert nested(steps, parent="0") == [
        {"step_id": "1", "parent_step_id": "0"},
        {"step_id": "1.1", "parent_step_id": "1"},
    ]


@pytest.mark.parametrize("metadata", [{}, {"x": 1}, {"x": {}}])
def test_a_reply_without_a_trace_has_no_steps(metadata):
    assert steps_of(metadata) == []


def test_a_place_counts_the_calls_that_lead_to_it():
    top = Place(caller="user")
    assert top.hops == 0
    assert top.below("lead", 3) == Place(caller="lead", step="3")
    assert top.below("lead", 3).below("orders", 1) == Place(caller="orders", step="3.1")
    assert Place(caller="orders", step="3.1").hops == 2
    assert read_place({"caller": "orders", "step": "3.1"}) == Place(caller="orders", step="3.1")


async def test_long_answers_are_shortened_in_a_step(exercise_list):
    said = await Company("team:chain4").answer(exercise_list[-1].prompt)
    texts = [step["additional_attributes"].get("response", "") for step in said.trace["steps"]]
    assert max(map(len, texts)) <= MAX_TEXT
