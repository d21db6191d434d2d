"""The report as JSON."""

import pytest

from adk_agent.play.evaluation import evaluate
from adk_agent.results.report import EvaluationReport

pytestmark = pytest.mark.usefixtures("quick_start")


async def test_a_report_read_back_is_the_report_written(make_deps, make_plan):
    report = await evaluate(make_plan("builtin:null"), make_deps(), request="")
    assert EvaluationReport.model_validate_json(report.to_json()) == report


async def test_a_row_of_a_task_says_why_the_request_chose_it(make_deps, make_plan):
    plan = make_plan("builtin:null", task_ids=("create_task_1", "update_task_1"))
    (planned,) = plan.tasks
    tasks = (planned.model_copy(update={"reasons": {"update_task_1": 'purpose: "status"'}}),)
    report = await evaluate(plan.model_copy(update={"tasks": tasks}), make_deps(), request="")
    assert [row.reason for row in report.tasks] == [None, 'purpose: "status"']
