"""Two runs compared by task, and the gate that follows."""

import pytest

from adk_agent.core.errors import RequestError
from adk_agent.core.user_condition import UserCondition
from adk_agent.results.agent_usage import TrialUsage
from adk_agent.results.comparison import compare_runs
from adk_agent.results.comparison_text import summary
from tests.adk_agent.results.compared import (
    NEW,
    OLD,
    by_headlines,
    headline,
    one,
    report,
    with_second_benchmark,
)


def test_one_agent_before_and_after_is_compared_whatever_its_address():
    found = compare_runs(report("a", one(OLD, 5)), report("b", one(NEW, 13)))
    (row,) = found.agents
    assert (row.first_agent, row.second_agent) == (OLD, NEW)
    assert row.comparison.difference == 0.4
    # 8 tasks moved, all one way: 2 of the 2^8 sign flips are as extreme.
    assert (row.comparison.p_value, row.comparison.exact) == (
        pytest.approx(2 / 256, abs=1e-6),
        True,
    )
    assert row.comparison.interval.low > 0
    assert [move.task_id for move in row.gained] == [f"t{n:02}" for n in range(5, 13)]
    assert row.lost == ()
    assert not row.is_regression
    assert "better" in summary(found)


def test_several_agents_are_paired_by_address_then_by_role():
    first = report("a", {**one(OLD, 5), **one("http://x", 3)}, roles={OLD: "airline_agent"})
    second = report("b", {**one("http://x", 3), **one(NEW, 2)}, roles={NEW: "airline_agent"})
    pairs = [(row.first_agent, row.second_agent) for row in compare_runs(first, second).agents]
    assert pairs == [(OLD, NEW), ("http://x", "http://x")]


def test_agents_that_do_not_belong_together_are_named():
    first = report("a", {**one(OLD, 5), **one("http://x", 3)}, roles={OLD: "p", "http://x": "q"})
    with pytest.raises(RequestError, match=r"http://old:1, http://x\) matches one in run b"):
        compare_runs(first, report("b", one(NEW, 2)))


def test_floor_and_ceiling_beside_an_agent_are_not_compared():
    first = report("a", {**one(OLD, 5), **one("builtin:null", 1)})
    (row,) = compare_runs(first, report("b", one(NEW, 5))).agents
    assert (row.first_agent, row.comparison.p_value) == (OLD, 1.0)


def test_failed_trials_count_against_the_second_run_and_unplayed_tasks_on_neither_side():
    first = report("a", {OLD: {"t0": [True, None], "t1": [None, None], "t2": [False, False]}})
    second = report("b", {OLD: {"t0": [True, True], "t1": [True, True], "t3": [True, True]}})
    (row,) = compare_runs(first, second).agents
    # t1 failed in the first run: passed, as what is measured against; else not passed.
    assert (row.comparison.tasks, row.comparison.difference) == (2, 0.0)
    assert (row.best_case.difference, row.failed_trials) == (0.75, 3)
    assert (row.only_first, row.only_second) == (1, 1)


def test_runs_without_a_task_in_common_are_refused():
    first, second = report("a", {OLD: {"t0": [True]}}), report("b", {OLD: {"t1": [True]}})
    with pytest.raises(RequestError, match="no task in common that was scored in both"):
        compare_runs(first, second)


def test_other_data_are_refused_unless_they_are_meant():
    first, second = report("a", one(OLD, 5)), report("b", one(OLD, 5), revision="r2")
    with pytest.raises(RequestError, match=r"s, r1 in the first run, s, r2 in the second.*--other"):
        compare_runs(first, second)
    found = compare_runs(first, second, other_data=True)
    assert "data of mock: s, r1" in found.warnings[0]


def test_the_same_files_are_the_same_data_whether_they_were_fetched_or_not():
    first = report("a", one(OLD, 5), revision="sha256:1a2b")
    second = report("b", one(OLD, 5), revision="sha256:1a2b (commit 3c4d5e6)")
    assert compare_runs(first, second).warnings == ()


def test_what_else_differs_is_told():
    first = report("a", one(OLD, 5), versions={"greenroom": "0"})
    second = report("b", one(OLD, 5), status="interrupted")
    assert compare_runs(first, second).warnings == (
        "version of greenroom: 0 in the first run, 1 in the second",
        "run b is interrupted",
    )


@pytest.mark.requirement("use:usage")
def test_what_agents_report_of_tokens_and_cost_is_compared_for_a_trial():
    def reporting(run_id, tokens, cost):
        made = report(run_id, {NEW: {"a": [True, True]}})
        usage = TrialUsage(replies=1, with_tokens=1, with_cost=1, total_tokens=tokens, cost=cost)
        rows = tuple(row.model_copy(update={"agent_usage": usage}) for row in made.trials)
        return made.model_copy(update={"trials": rows})

    found = compare_runs(reporting("1", 1_500_000, 0.5), reporting("2", 1_200, 0.25))
    text = summary(found)
    assert "reported cost: 0.5 before, 0.25 now" in text
    assert "reported tokens: 1,500,000 before, 1,200 now" in text


def test_latencies_drift_over_the_common_tasks_alone():
    first = report(
        "a", {OLD: {"t0": [True], "t1": [True]}}, latencies=[(OLD, "t0", 10.0), (OLD, "t1", 99.0)]
    )
    second = report("b", {OLD: {"t0": [True]}}, latencies=[(OLD, "t0", 30.0)])
    (drift,) = compare_runs(first, second).agents[0].drift
    assert (drift.metric, drift.first, drift.second) == ("p50_ms", 10.0, 30.0)


def test_what_it_would_take_to_show_a_difference_is_said():
    second = one(OLD, 5)
    second[OLD]["t05"] = [True, False, False, False]
    text = summary(compare_runs(report("a", one(OLD, 5)), report("b", second)))
    assert "no significant difference (p = 1)" in text
    assert "to show the difference that was seen" in text
    assert "gained: 1 tasks: mock/t05 (0 to 0.25)" in text


def test_agents_without_a_counterpart_are_named():
    second = report("b", {**one(OLD, 5), **one("http://y", 5)})
    first = report("a", {**one(OLD, 5), **one("http://x", 3)}, roles={"http://x": "other"})
    assert compare_runs(first, second).warnings == (
        "http://x of run a has no counterpart and is not compared",
        "http://y of run b has no counterpart and is not compared",
    )


def played_by(made, label, **condition):
    """The report as if another user had been played."""
    trials = tuple(row.model_copy(update={"user": label}) for row in made.trials)
    user = UserCondition(**{"model": label.removeprefix("llm:"), **condition})
    return made.model_copy(update={"trials": trials, "user": user})


@pytest.mark.requirement("test:simulator")
def test_other_users_are_refused_whatever_the_address_unless_they_are_meant():
    first, second = report("a", one(OLD, 5)), played_by(report("b", one(NEW, 5)), "llm:m")
    told = f"user of {OLD} in mock: scripted in the first run, llm:m in the second"
    with pytest.raises(RequestError, match=f"{told}.*--across-users"):
        compare_runs(first, second)
    assert compare_runs(first, second, across_users=True).warnings == (told,)


@pytest.mark.requirement("test:simulator")
def test_the_same_model_with_other_arguments_is_another_user_and_with_another_seed_none():
    cold = played_by(report("a", one(OLD, 5)), "llm:m", arguments={"temperature": 0.0}, seed=1)
    warm = played_by(report("b", one(OLD, 5)), "llm:m", arguments={"temperature": 1.0}, seed=1)
    with pytest.raises(RequestError, match=r"temperature of the user's model m: 0\.0 in"):
        compare_runs(cold, warm)
    seeded = played_by(report("b", one(OLD, 5)), "llm:m", arguments={"temperature": 0.0}, seed=2)
    assert compare_runs(cold, seeded).warnings == ()


@pytest.mark.requirement("test:simulator")
def test_a_domain_of_one_run_alone_makes_no_other_user():
    first, second = report("a", one(OLD, 5)), report("b", one(OLD, 5))
    solo = tuple(
        row.model_copy(update={"user": "none", "domain": "telecom"}) for row in second.trials
    )
    both = second.model_copy(update={"trials": (*second.trials, *solo)})
    assert compare_runs(first, both).warnings == ()


def test_another_way_of_scoring_is_refused():
    first, second = report("a", one(OLD, 5)), report("b", one(NEW, 5))
    plan = second.plan.model_copy(update={"evaluation_type": "action"})
    with pytest.raises(
        RequestError, match="'all', run b with 'action': these scores do not compare"
    ):
        compare_runs(first, second.model_copy(update={"plan": plan}))


def test_the_other_way_round_is_the_mirror():
    first, second = report("a", one(OLD, 5)), report("b", one(OLD, 13))
    there = compare_runs(first, second).agents[0].comparison
    back = compare_runs(second, first).agents[0].comparison
    assert (there.interval.low, there.interval.high) == (-back.interval.high, -back.interval.low)
    assert there.p_value == back.p_value


def test_tasks_that_all_moved_alike_are_not_said_to_be_unmoved():
    text = summary(compare_runs(report("a", one(OLD, 0)), report("b", one(OLD, 20))))
    assert "better" in text
    assert "their differences vary too little or too much" in text


def test_runs_over_several_benchmarks_are_compared_on_each_for_itself():
    first = with_second_benchmark(report("a", one(OLD, 10)), report("x", one(OLD, 10)))
    second = with_second_benchmark(report("b", one(OLD, 20)), report("x", one(OLD, 0)))
    found = compare_runs(first, second)
    # Together they would have lost nothing.
    assert [(row.domains, row.verdict) for row in found.agents] == [
        (("mock",), "better"),
        (("desk",), "worse"),
    ]
    assert f"{OLD} in desk: worse" in summary(found)


def test_a_benchmark_of_the_first_run_that_is_gone_is_named_and_decides_no_gate():
    first = with_second_benchmark(report("a", one(OLD, 10)), report("x", one(OLD, 10)))
    found = compare_runs(first, report("b", one(OLD, 10)))
    assert [row.domains for row in found.agents] == [("mock",)]
    assert f"{OLD} has no task of desk in common" in found.undecided
    assert any("not compared in desk" in warning for warning in found.warnings)


def test_a_run_that_did_not_record_its_benchmark_is_compared_with_one_that_did():
    def recorded(row):
        return row.model_copy(update={"data": row.data.model_copy(update={"benchmark": "m"})})

    second = report("b", one(OLD, 10))
    second = second.model_copy(update={"summary": tuple(map(recorded, second.summary))})
    (row,) = compare_runs(report("a", one(OLD, 10)), second).agents
    assert (row.domains, row.comparison.tasks) == ((), 20)


@pytest.mark.parametrize(("higher_is_better", "verdict"), [(True, "worse"), (False, "better")])
def test_a_headline_is_compared_by_its_direction(higher_is_better, verdict):
    first, second = (
        by_headlines(
            report(run, one(OLD, 5)),
            headline(OLD, [value] * 10, higher_is_better=higher_is_better),
        )
        for run, value in (("a", 1.0), ("b", 0.0))
    )
    found = compare_runs(first, second)
    assert (found.agents, [row.verdict for row in found.headlines]) == ((), [verdict])
    assert f"{OLD} in suite, resisted: {verdict}: 1.000 before, 0.000 now" in summary(found)


def test_failed_trials_that_could_turn_a_headline_leave_the_gate_undecided():
    first = by_headlines(report("a", one(OLD, 5)), headline(OLD, [1.0] * 10))
    lost = headline(OLD, [0.0] * 10, at_best=[1.0] * 10)
    found = compare_runs(first, by_headlines(report("b", one(OLD, 5)), lost))
    assert [row.verdict for row in found.headlines] == ["undecided"]
    assert found.undecided == (
        f"{OLD} has 10 failed trials that decide the verdict in resisted of suite",
    )


def test_cases_that_have_lost_their_score_are_named_by_headline():
    first = by_headlines(report("a", one(OLD, 5)), headline(OLD, [1.0] * 10))
    found = compare_runs(first, by_headlines(report("b", one(OLD, 5)), headline(OLD, [1.0] * 8)))
    assert found.undecided == (f"{OLD} lacks 2 of 10 tasks in resisted of suite",)
