"""A run over several benchmarks: nothing adds up what two of them measure."""

import json

import pytest

from adk_agent.results.leaderboard import leaderboard_rows
from adk_agent.results.meaning import meaning_lines
from adk_agent.results.report import EvaluationReport
from adk_agent.runs.store import REPORT
from adk_agent.service.conversation.artifacts import report_parts

pytestmark = pytest.mark.usefixtures("quick_start")


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    from adk_agent.cli.main import main

    results = tmp_path_factory.mktemp("results")
    config = {"domain": ["airline", "mock", "business"], "num_tasks": 2}
    agents = {"null": "builtin:null", "echo": "builtin:echo"}
    request = json.dumps({"participants": agents, "config": config})
    flags = ["--offline", "--quiet", "--results-dir", str(results)]
    assert main(["run", request, *flags]) == 0
    [folder] = results.iterdir()
    return EvaluationReport.model_validate_json((folder / REPORT).read_text())


def test_there_is_no_row_over_two_benchmarks(report):
    assert [(row.participant, row.benchmark, row.domains, row.tasks) for row in report.overall] == [
        ("builtin:null", "tau2", ("airline", "mock"), 4),
        ("builtin:echo", "tau2", ("airline", "mock"), 4),
    ]
    assert [(pair.domains, pair.comparison.tasks) for pair in report.pairs] == [
        (("airline", "mock"), 4),
        (("business",), 2),
    ]


def test_each_has_a_line_that_says_what_its_score_means(report):
    begun = [":".join(line.split(":")[:2]) for line in meaning_lines(report)]
    assert begun == ["builtin:echo on airline and mock", "builtin:echo on business"]


def test_leaderboards_get_a_row_for_each(report):
    rows = leaderboard_rows(report)
    assert [(row["benchmark"], row["domain"], row["max_score_all"]) for row in rows] == [
        ("tau2", "airline,mock", 4),
        ("business", "business", 2),
    ]
    parts = report_parts(report)
    data = [part.data.struct_value.fields for part in parts if part.WhichOneof("content") == "data"]
    assert [each["benchmark"].string_value for each in data] == ["tau2", "business"]
    assert ["run_id" in each for each in data] == [True, False]
