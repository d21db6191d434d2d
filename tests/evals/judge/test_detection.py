"""Failure modes that can be seen in the calls alone."""

import pytest

from evals.trace import CallType, Provenance
from tests.evals.judge.verdicts import verdict

# 1.3 step repetition


def asking(teams, *texts, failed=(), **more):
    """Calls from a to b with these texts, below a request of the user."""
    calls = [
        teams.step(
            f"c{n}",
            "a",
            "b",
            n,
            n + 0.5,
            request_text=text,
            parent_step_id="root",
            error="it broke" if n in failed else None,
            **more,
        )
        for n, text in enumerate(texts, start=1)
    ]
    return teams.trace(teams.from_user("root", "a", 0, 100), *calls)


async def test_the_same_call_three_times_is_repetition(teams):
    assert await verdict("1.3", asking(teams, "q", "q", "q", "q")) == (
        "present",
        ["c1", "c2", "c3", "c4"],
    )


async def test_the_same_call_twice_is_no_repetition(teams):
    assert await verdict("1.3", asking(teams, "q", "r", "q")) == ("absent", [])


async def test_a_failure_between_begins_the_count_anew(teams):
    assert (await verdict("1.3", asking(teams, "q", "q", "q", failed={2})))[0] == "absent"
    assert await verdict("1.3", asking(teams, *"qqqqq", failed={2})) == (
        "present",
        ["c3", "c4", "c5"],
    )


async def test_tools_that_are_called_again_are_repetition_too(teams):
    of = asking(teams, "q", "q", "q", call_type=CallType.TOOL)
    assert (await verdict("1.3", of))[0] == "present"


async def test_a_user_who_says_the_same_again_is_no_repetition_of_the_agent(teams):
    turns = [teams.step(f"c{n}", "green", "purple", n, n + 1, request_text="yes") for n in range(4)]
    assert (await verdict("1.3", teams.trace(*turns)))[0] == "abstain"
    tools = [
        teams.step(f"t{n}", "purple", "search", n, n, request_text="q", call_type=CallType.TOOL)
        for n in range(3)
    ]
    assert (await verdict("1.3", teams.trace(*turns, *tools)))[0] == "present"


async def test_repetition_is_abstained_from_where_no_step_says_what_was_asked(teams):
    of = teams.trace(
        teams.from_user("root", "a", 0, 9), teams.step("c1", "a", "b", 1, 2, request_text=None)
    )
    assert (await verdict("1.3", of))[0] == "abstain"


# 1.5 unaware of termination


async def test_a_call_after_the_request_it_serves_was_answered_is_unaware_of_termination(teams):
    of = teams.trace(
        teams.from_user("root", "a", 0, 5),
        teams.step("c1", "a", "b", 1, 2, parent_step_id="root"),
        teams.step("c2", "a", "b", 5.001, 6, parent_step_id="root"),
    )
    assert await verdict("1.5", of) == ("present", ["c2"])


async def test_a_call_that_begins_as_the_request_is_answered_is_not(teams):
    of = teams.trace(
        teams.from_user("root", "a", 0, 5),
        teams.step("c1", "a", "b", 5, 6, parent_step_id="root"),
    )
    assert await verdict("1.5", of) == ("absent", [])


async def test_a_tool_that_the_user_s_side_runs_after_the_reply_is_not(teams):
    of = teams.trace(
        teams.step("c1", "green", "purple", 0, 1),
        teams.step("t1", "purple", "search", 2, 3, parent_step_id="c1", call_type=CallType.TOOL),
    )
    assert (await verdict("1.5", of))[0] == "abstain"


@pytest.mark.parametrize("code", ["1.5", "2.5", "3.1"])
async def test_clocks_of_different_observers_are_not_compared(teams, code):
    of = teams.trace(
        teams.from_user("root", "a", 0, 5),
        teams.step("c1", "a", "b", 9, 10, parent_step_id="root", provenance=Provenance.REPORTED),
    )
    assert (await verdict(code, of))[0] == "abstain"


# 2.1 conversation reset


async def test_the_opening_two_requests_again_are_a_reset(teams):
    of = asking(teams, "hello", "order 7", "refund", "hello", "order 7")
    assert await verdict("2.1", of) == ("present", ["c4", "c5"])


@pytest.mark.parametrize(
    ("texts", "failed"),
    [
        (("hello", "order 7", "hello", "order 8"), ()),
        (("hello", "order 7", "hello"), ()),
        (("hello", "hello", "hello", "hello"), ()),
        (("hello", "order 7", "hello", "order 7"), (2,)),
    ],
    ids=["other second request", "first alone", "the same only", "after a failure"],
)
async def test_less_than_that_is_no_reset(teams, texts, failed):
    assert await verdict("2.1", asking(teams, *texts, failed=failed)) == ("absent", [])


# 2.5 ignored input and 3.1 premature end


def nested(teams, inner_end, *, root_end=20, error=None, **more):
    """The user asks a, a asks b from 1 to 10, b asks c from 2 on."""
    return teams.trace(
        teams.from_user("root", "a", 0, root_end),
        teams.step("c1", "a", "b", 1, 10, parent_step_id="root"),
        teams.step("c2", "b", "c", 2, inner_end, parent_step_id="c1", error=error),
    )


async def test_an_agent_that_answers_before_its_colleague_has_ignored_it(teams):
    assert await verdict("2.5", nested(teams, 11)) == ("present", ["c2"])
    assert await verdict("3.1", nested(teams, 11)) == ("absent", [])


async def test_an_agent_that_waits_for_its_colleague_has_not(teams):
    assert await verdict("2.5", nested(teams, 10)) == ("absent", [])


async def test_whether_a_failure_that_nothing_followed_was_heeded_is_abstained_from(teams):
    assert (await verdict("2.5", nested(teams, 5, error="it broke")))[0] == "abstain"


async def test_a_failure_after_which_the_agent_tried_something_else_was_heeded(teams):
    steps = nested(teams, 5, error="it broke").steps
    other = teams.step("c3", "b", "d", 6, 7, parent_step_id="c1")
    assert await verdict("2.5", teams.trace(*steps, other)) == ("absent", [])


async def test_a_task_that_is_answered_while_a_call_is_open_ended_too_early(teams):
    of = nested(teams, 25, root_end=12)
    assert await verdict("3.1", of) == ("present", ["c2"])
    failed = of.steps[0].model_copy(update={"error": "gave up"})
    assert await verdict("3.1", teams.trace(failed, *of.steps[1:])) == ("absent", [])
