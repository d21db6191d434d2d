"""No fault raises a score: not its low end, nor a leaderboard's row, nor a gate's verdict."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adk_agent.cli import compare as compare_command
from adk_agent.cli import gate
from adk_agent.core.errors import RequestError
from adk_agent.results.comparison import compare_runs
from adk_agent.results.leaderboard import leaderboard_row
from adk_agent.results.running_scores import EndedTrial, RunningScores
from tests.adk_agent.results.mixed_runs import FAILED, FAULTS, LOST, PASSED, UNSCORED, report_of


def test_a_run_without_failed_trials_has_one_score():
    (found,) = report_of(["++", "+-"]).summary
    assert found.pass_hat_k == found.pass_hat_k_high == {"1": 0.75, "2": 0.5}
    assert found.pass_at_k == {"1": 0.75, "2": 1.0}


def test_failed_trials_make_a_score_a_range_over_the_same_trials():
    (found,) = report_of(["++i", "+-i"]).summary
    # Task 0: C(2,k)/C(3,k) to 1; task 1: C(1,k)/C(3,k) to C(2,k)/C(3,k).
    assert found.pass_hat_k == {"1": 0.5, "2": pytest.approx(1 / 6, abs=1e-6), "3": 0.0}
    assert found.pass_hat_k_high == {
        "1": pytest.approx(5 / 6, abs=1e-6),
        "2": pytest.approx(2 / 3, abs=1e-6),
        "3": 0.5,
    }
    (low,) = report_of(["++-", "+--"]).summary
    (high,) = report_of(["+++", "+-+"]).summary
    assert found.intervals["1"].low == low.intervals["1"].low
    assert found.intervals["1"].high == high.intervals["1"].high


def test_an_agent_none_of_whose_trials_is_scored_has_no_score_and_no_row():
    report = report_of(["ii", "i?"])
    assert report.summary[0].pass_hat_k == {"1": None, "2": None}
    assert leaderboard_row(report) is None
    assert gate.exit_code(report, 0.5) == 3


def test_the_floor_is_over_the_tasks_of_the_score():
    floor = {"0": 1.0, "1": 0.0, "2": 1.0}
    (found,) = report_of(["+", "i", "?"], floor=floor).summary
    assert (found.floor.tasks, found.floor.pass_1) == (2, 0.5)
    assert found.above_floor == 0.0
    assert found.above_floor_interval.high > 0.5


@pytest.mark.parametrize(
    ("ends", "bound", "code"),
    [
        (["+", "+", "+", "i"], 0.75, 0),
        (["+", "+", "+", "i"], 0.76, 3),
        (["-", "-", "-", "i"], 0.26, 1),
        (["+", "+", "+", "e"], 0.76, 1),
    ],
)
def test_a_gate_is_decided_where_failed_trials_cannot_turn_it(ends, bound, code):
    assert gate.exit_code(report_of(ends), bound) == code


def test_what_a_run_shows_while_it_goes_on_is_the_same_range():
    report = report_of(["++", "+i", "-?"])
    running_scores = RunningScores.of_plan(report.plan)
    for each in report.trials:
        running_scores.add(EndedTrial.of(each))
    (score,) = running_scores.exact_scores()
    (found,) = report.summary
    assert (score.pass_1, score.pass_1_high) == (0.5, pytest.approx(2 / 3, abs=1e-6))
    assert (score.pass_1, score.pass_1_high) == (found.pass_hat_k["1"], found.high("1"))
    assert score.interval == found.intervals["1"]
    assert "0.500 to 0.667" in score.summary


def test_a_comparison_that_failed_trials_decide_is_undecided():
    before = report_of(["+"] * 10, run_id="run-1")
    after = report_of(["+"] * 4 + ["i"] * 6)
    (row,) = compare_runs(before, after).agents
    assert (row.verdict, row.is_regression) == ("undecided", False)
    assert (row.comparison.difference, row.best_case.difference) == (-0.6, 0.0)
    assert compare_command._gate(compare_runs(before, after)) == 3


def test_failed_trials_of_the_baseline_count_as_passed_against_a_candidate():
    before = report_of(["i"] * 6 + ["-"] * 4, run_id="run-1")
    after = report_of(["+"] * 6 + ["-"] * 4)
    (row,) = compare_runs(before, after).agents
    assert row.verdict == "undecided"
    assert row.comparison.difference == 0.0


EVERY_END = PASSED + LOST + UNSCORED + "".join(FAULTS)
PLAYED = PASSED + LOST + "".join(FAULTS)
RUNS_OF_FIVE = st.text(alphabet=PASSED + LOST, min_size=5, max_size=5)


@st.composite
def replacements(draw, faults=FAULTS, alphabet=EVERY_END, replaced=EVERY_END):
    """A run, and the same run with one of its trials replaced by a fault."""
    tasks = st.text(alphabet=alphabet, min_size=1, max_size=3)
    ends = draw(st.lists(tasks, min_size=1, max_size=5))
    task = draw(st.integers(0, len(ends) - 1))
    trial = draw(st.integers(0, len(ends[task]) - 1))
    before = draw(st.sampled_from([end for end in replaced if end in alphabet]))
    fault = draw(st.sampled_from(faults))
    head, tail = ends[task][:trial], ends[task][trial + 1 :]
    others = ends[:task], ends[task + 1 :]
    return tuple([*others[0], f"{head}{end}{tail}", *others[1]] for end in (before, fault))


def never_higher(before, after):
    return (
        after is None or (before is None and after == 0) or (before is not None and after <= before)
    )


@given(replacements())
def test_no_fault_raises_the_low_end_of_a_score(pair):
    (before,), (after,) = (report_of(ends).summary for ends in pair)
    for k in before.pass_hat_k:
        assert never_higher(before.pass_hat_k[k], after.pass_hat_k[k])
    assert never_higher(before.mean_reward, after.mean_reward)


@given(replacements(replaced=PASSED + LOST))
def test_no_fault_instead_of_a_score_raises_the_chance_that_one_of_k_trials_passes(pair):
    (before,), (after,) = (report_of(ends).summary for ends in pair)
    for k in before.pass_at_k:
        assert never_higher(before.pass_at_k[k], after.pass_at_k[k])


@given(replacements())
def test_no_fault_raises_a_row(pair):
    before, after = (leaderboard_row(report_of(ends)) or {} for ends in pair)
    for name in ("score", "pass_rate", "pass_rate_all"):
        assert never_higher(before.get(name), after.get(name))
    for task, reward in after.get("task_rewards", {}).items():
        assert never_higher(before.get("task_rewards", {}).get(task), reward)


@given(replacements(), st.sampled_from([0.1, 0.34, 0.5, 0.75, 1.0]))
def test_no_fault_opens_a_gate(pair, bound):
    before, after = (gate.exit_code(report_of(ends), bound) for ends in pair)
    assert before == 0 or after != 0


@given(replacements(alphabet=PLAYED, replaced=PASSED + LOST), RUNS_OF_FIVE)
def test_no_fault_of_a_candidate_opens_the_gate_against_regressions(pair, baseline):
    before, after = (regression_code(list(baseline[: len(ends)]), ends) for ends in pair)
    assert before == 0 or after != 0


@given(replacements(faults=tuple(FAILED), alphabet=PLAYED, replaced=PASSED + LOST), RUNS_OF_FIVE)
def test_no_fault_of_what_it_is_measured_against_opens_that_gate_either(pair, candidate):
    before, after = (regression_code(ends, list(candidate[: len(ends)])) for ends in pair)
    assert before == 0 or after != 0


def regression_code(baseline, candidate):
    try:
        return compare_command._gate(
            compare_runs(report_of(baseline, run_id="run-1"), report_of(candidate))
        )
    except RequestError:
        return 2
