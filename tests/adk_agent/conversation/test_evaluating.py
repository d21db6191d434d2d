"""What is played, and what is asked before."""

import pytest

from adk_agent.conversation.answering import answer, settle
from adk_agent.conversation.questions import verdict
from adk_agent.conversation.replies import Answer, Asked, Play, Refused
from adk_agent.core.plan import EvaluationRequest, Overrides, Participant, Selection
from adk_agent.requests.intent import Changes, Evaluate, Repeat, Situation
from adk_agent.runs.store import load_manifest
from tau_bridge.chaos.profiles import parse_chaos

RUN = "20260102-030405-aaaaaa"
NULL = Participant(address="builtin:null")


def wish(*selections, unused=(), **changes):
    request = EvaluationRequest(participants=(NULL,), selections=selections, **changes)
    return Evaluate(request=request, unused=unused)


async def test_a_plain_request_is_played_as_it_was_said(ask):
    reply = await ask(wish(Selection(domain="mock", num_tasks=2)), text="two mock tasks")
    assert isinstance(reply, Play)
    assert (reply.plan.total_trials, reply.request) == (2, "two mock tasks")


async def test_words_that_were_not_used_are_quoted_and_asked_about(ask):
    intent = wish(Selection(domain="mock", num_tasks=2), unused=("since yesterday",))
    reply = await ask(intent, text="two mock tasks since yesterday")
    assert isinstance(reply, Asked)
    assert "'since yesterday'" in reply.question.text
    assert "mock: 2 tasks" in reply.question.text
    assert reply.question.plan.total_trials == 2
    assert isinstance(await ask(intent, confirmed=True), Play)


@pytest.mark.parametrize(
    ("selection", "changes", "asked"),
    [
        (Selection(domain="mock"), {"num_trials": 30}, True),
        (Selection(domain="mock"), {"num_trials": 22}, False),
        (Selection(domain="mock", num_tasks=9), {"num_trials": 30}, False),
        (Selection(domain="mock", task_ids=("create_task_1",)), {"num_trials": 100}, False),
        (Selection(domain="mock"), {"num_trials": 30, "named_size": True}, False),
    ],
)
async def test_many_conversations_are_confirmed_where_nobody_named_the_number(
    ask, selection, changes, asked
):
    reply = await ask(wish(selection, **changes))
    assert isinstance(reply, Asked if asked else Play)
    if asked:
        assert "270 conversations" in reply.question.text


async def test_the_limit_is_a_setting_and_a_flag_names_the_number(make_conversation):
    intent = wish(Selection(domain="mock"))
    deps = make_conversation(confirm_above=8)
    assert isinstance(await answer(intent, "t", Situation(), deps), Asked)
    flags = Overrides(limit=9)
    assert isinstance(await answer(intent, "t", Situation(), deps, overrides=flags), Play)


@pytest.mark.parametrize(
    ("intent", "word"),
    [
        (wish(Selection(domain="nowhere")), "nowhere"),
        (wish(Selection(domain="mock", task_ids=("77",))), "77"),
        (wish(), "no domain"),
    ],
)
async def test_what_cannot_be_planned_is_refused(ask, intent, word):
    reply = await ask(intent)
    assert isinstance(reply, Refused)
    assert (word in reply.text, reply.exit_code) == (True, 2)


async def test_this_service_is_not_evaluated_even_if_that_is_confirmed(ask):
    me = Participant(address="http://localhost:8000")
    intent = Evaluate(
        request=EvaluationRequest(
            participants=(me,), selections=(Selection(domain="mock", num_tasks=1),)
        )
    )
    here = Situation(own_addresses=("http://127.0.0.1:8000/",))
    reply = await ask(intent, situation=here, confirmed=True)
    assert "this service itself" in reply.text


@pytest.mark.parametrize(
    "text", ["yes", "Yes, please!", "ok", "go ahead", "Y", "sure, do it", "yes."]
)
async def test_a_plain_yes_plays_the_plan_that_was_shown(ask, conversation, text):
    intent = wish(Selection(domain="mock", num_tasks=2), unused=("since yesterday",))
    question = (await ask(intent, text="the request")).question
    reply = await settle(question, text, Situation(question=question), conversation)
    assert reply == Play(plan=question.plan, request="the request")


@pytest.mark.parametrize("text", ["no", "No, thanks", "cancel it", "not now", "nope", "stop!"])
async def test_a_plain_no_plays_nothing(ask, conversation, text):
    intent = wish(Selection(domain="mock", num_tasks=2), unused=("since yesterday",))
    question = (await ask(intent)).question
    reply = await settle(question, text, Situation(question=question), conversation)
    assert reply == Answer(text="Nothing was played.")


@pytest.mark.parametrize(
    "text",
    [
        "yes, but with 3 trials",
        "yes and retail too",
        "no, only two",
        "not on airline",
        "five tasks",
        "ok what is pass^k?",
        "no problem, what is the floor?",
        "yesterday",
        "",
        "👍",
        "yes " * 40,
    ],
)
def test_what_says_more_than_yes_or_no_is_neither(text):
    assert verdict(text) is None


async def test_the_offered_run_is_meant_after_a_yes(ask, played, conversation):
    await played(RUN, "builtin:null")
    question = (await ask(Repeat(), text="run it again")).question
    reply = await settle(question, "yes", Situation(question=question), conversation)
    assert isinstance(reply, Play)
    assert reply.request == f"run it again (run {RUN})"


async def test_a_repetition_plays_the_same_plan(ask, played, conversation):
    await played(RUN, "builtin:null", num_trials=2, seed=7)
    reply = await ask(Repeat(), RUN, text="again")
    assert reply.plan == load_manifest(conversation.results_dir, RUN).plan


async def test_a_repetition_with_changes_keeps_the_faults_that_were_injected(ask, played):
    await played(RUN, "builtin:null", chaos=parse_chaos("lost_reply=0.5"))
    reply = await ask(Repeat(intent="repeat_changed", changes=Changes(seed=2)), RUN)
    assert (reply.plan.seed, reply.plan.chaos) == (2, parse_chaos("lost_reply=0.5"))


async def test_conversations_under_faults_are_counted_before_a_large_plan_is_played(ask):
    wished = wish(Selection(domain="mock"), num_trials=22, chaos="duplicates")
    question = (await ask(wished)).question.text
    assert "These are 396 conversations" in question
    assert "198 (up to 396 with those under faults)" in question


async def test_only_tasks_that_did_not_pass_are_played_again(ask, played):
    await played(RUN, "builtin:null", task_ids=("create_task_1", "create_task_1_nl_eval"))
    reply = await ask(Repeat(intent="repeat_changed", which="failed"), RUN)
    assert [each.task_ids for each in reply.plan.tasks] == [("create_task_1",)]


async def test_where_all_passed_nothing_is_played_again(ask, played):
    await played(RUN, "builtin:oracle")
    reply = await ask(Repeat(intent="repeat_changed", which="failed"), RUN)
    assert isinstance(reply, Answer)
    assert "The one finished trial of run" in reply.text


async def test_of_a_complete_run_nothing_is_missing(ask, played):
    await played(RUN, "builtin:null")
    reply = await ask(Repeat(intent="repeat_changed", which="missing"), RUN)
    assert "Nothing of it is missing" in reply.text


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"num_trials": 3}, {"num_trials": 3, "seed": 7}),
        ({"seed": 11}, {"num_trials": 2, "seed": 11}),
        ({"max_steps": 9, "max_concurrency": 1}, {"max_steps": 9, "max_concurrency": 1}),
    ],
)
async def test_a_repetition_with_changes_keeps_the_rest(ask, played, changes, expected):
    await played(
        RUN, "builtin:null", num_trials=2, seed=7, task_ids=("create_task_1", "update_task_1")
    )
    reply = await ask(Repeat(intent="repeat_changed", changes=Changes(**changes)), RUN)
    assert {name: getattr(reply.plan, name) for name in expected} == expected
    assert reply.plan.tasks[0].task_ids == ("create_task_1", "update_task_1")


async def test_another_agent_plays_the_same_tasks(ask, played):
    await played(RUN, "builtin:null", task_ids=("create_task_1",))
    changes = Changes(agents=("builtin:echo", "http://localhost:9010"))
    reply = await ask(Repeat(intent="repeat_changed", changes=changes), RUN)
    assert [each.address for each in reply.plan.participants] == list(changes.agents)
    assert reply.plan.tasks[0].task_ids == ("create_task_1",)


async def test_another_domain_gets_as_many_tasks_drawn_anew(ask, played):
    await played(RUN, "builtin:null", task_ids=("create_task_1", "update_task_1"))
    changes = Changes(domain="airline")
    reply = await ask(Repeat(intent="repeat_changed", changes=changes), RUN)
    [tasks] = reply.plan.tasks
    assert (tasks.domain, len(tasks.task_ids)) == ("airline", 2)


@pytest.mark.parametrize(
    "changes", [Changes(domain="nowhere"), Changes(num_trials=100_000), Changes(agents=("evil",))]
)
async def test_a_change_that_cannot_be_played_is_refused(ask, played, changes):
    await played(RUN, "builtin:null")
    reply = await ask(Repeat(intent="repeat_changed", changes=changes), RUN)
    assert isinstance(reply, Refused), reply


async def test_a_repetition_that_grows_beyond_the_limit_is_confirmed(ask, played):
    await played(RUN, "builtin:null", task_ids=("create_task_1", "update_task_1"))
    grown = Repeat(intent="repeat_changed", changes=Changes(num_trials=6))
    assert isinstance(await ask(grown, RUN, confirm_above=11), Asked)
    assert isinstance(await ask(grown, RUN, confirm_above=12), Play)
    assert isinstance(await ask(grown, RUN, confirm_above=11, confirmed=True), Play)
