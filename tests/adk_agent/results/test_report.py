"""The report as JSON."""

import pytest

from adk_agent.play.evaluation import evaluate
from adk_agent.results.report import EvaluationReport

pytestmark = pytest.mark.usefixtures("quick_start")


async def test_a_report_read_back_is_the_report_written(make_deps, make_plan):
    report = await evaluate(make_plan("builtin:null"), make_deps(), request="")
    assert EvaluationReport.model_validate_json(report.to_json()) == report
