"""Why the trials of each agent did not pass, in a line each."""

import pytest

from adk_agent.cli.display import next_commands
from adk_agent.results.causes import cause_lines
from adk_agent.results.summary import CEILING, FLOOR
from evals.diagnosis import Diagnosis
from tests.adk_agent.results.mixed_runs import AGENT, report_of


def diagnosed(report, *kinds):
    """The report, its trials that did not pass being of these kinds, in their order."""
    left = iter(kinds)
    trials = tuple(
        each
        if each.passed
        else each.model_copy(
            update={
                "diagnosis": Diagnosis(
                    kind=(kind := next(left)), side="agent", summary=f"It was {kind}."
                )
            }
        )
        for each in report.trials
    )
    return report.model_copy(update={"trials": trials})


def test_causes_are_counted_with_an_example_of_the_most_frequent():
    report = diagnosed(report_of(["+", "-", "-", "-"]), "gave_up", "missing_write", "missing_write")
    assert cause_lines(report) == [
        f"{AGENT}: 3 of 4 trials did not pass: 2 left out a change that was due (missing_write), 1 "
        "gave up before the work was done (gave_up). For example, mock task 2: It was missing_write."
    ]


def test_a_trial_without_a_diagnosis_is_said_to_have_none():
    assert cause_lines(report_of(["+", "-"])) == [
        f"{AGENT}: 1 of 2 trials did not pass, and nothing says why"
    ]


@pytest.mark.parametrize("ends", [["+", "+"], ["i", "e", "?"]])
def test_trials_that_passed_or_that_a_fault_decided_need_no_line(ends):
    assert cause_lines(report_of(ends)) == []


def test_floor_and_ceiling_are_left_out_beside_other_agents():
    alone = report_of(["-"], agent=FLOOR)
    assert len(cause_lines(alone)) == 1
    trials = tuple(
        each
        for agent in (FLOOR, AGENT, CEILING)
        for each in diagnosed(report_of(["-"], agent=agent), "gave_up").trials
    )
    (line,) = cause_lines(alone.model_copy(update={"trials": trials}))
    assert line.startswith(f"{AGENT}: ")


def test_the_reason_can_be_asked_for_where_there_is_one(tmp_path):
    told = next_commands(report_of(["+", "-"]), tmp_path / "run-2")
    assert f'greenroom ask "why did it fail?" --run run-2 --results-dir {tmp_path}' in told
