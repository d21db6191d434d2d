"""The report as markdown."""

import pytest

from adk_agent.results.markdown import render_markdown
from tests.adk_agent.results.mixed_runs import report_of


@pytest.mark.parametrize(
    ("end", "components"), [("-", "DB 1, COMMUNICATE 0"), ("i", "-"), ("e", "-")]
)
def test_components_are_shown_only_of_trials_that_no_fault_decided(end, components):
    report = report_of([end])
    measured = {"reward_breakdown": {"DB": 1.0, "COMMUNICATE": 0.0}}
    trials = [
        each.model_copy(update={**measured, "basis": ("DB", "COMMUNICATE")})
        for each in report.trials
    ]
    shown = render_markdown(report.model_copy(update={"trials": tuple(trials)}))
    (line,) = [
        each for each in shown.splitlines() if each.startswith("| http://agent:9010 | mock | 0 ")
    ]
    assert line.split(" | ")[5] == components


def test_why_tasks_were_chosen_is_listed_with_texts_escaped():
    report = report_of(["+", "-"])
    assert "## Why these tasks" not in render_markdown(report)
    (planned,) = report.plan.tasks
    reasons = {"1": 'purpose: "a <b>refund</b>\n![x](http://evil.example)"'}
    tasks = (planned.model_copy(update={"reasons": reasons}),)
    plan = report.plan.model_copy(update={"tasks": tasks})
    shown = render_markdown(report.model_copy(update={"plan": plan}))
    (line,) = [each for each in shown.splitlines() if each.startswith("- mock 1: ")]
    assert 'purpose: "a &lt;b>refund&lt;/b> !\\[x]\\(http://evil.example)"' in line
