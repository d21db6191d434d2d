"""The tables of the documentation against the code: the same names on both sides."""

import re
from pathlib import Path
from typing import get_args

import pytest
from pydantic import AliasChoices

from adk_agent import agentbeats
from adk_agent.cli.main import build_parser
from adk_agent.reading.refusal import RefusalCode
from adk_agent.report import (
    EvaluationReport,
    SummaryRow,
    TrialEvaluations,
    TrialRow,
    leaderboard_row,
)
from adk_agent.runs import TrialRecord
from adk_agent.settings import Settings
from evals.base import Evaluation
from evals.outcome import ComponentName
from evals.trace import InteractionStep
from tau_bridge.tau2.loop import Termination
from tau_bridge.wire import ParsedReply

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


def tables_of(page):
    """Each table as its header's first cell and the names in its first column."""
    text = re.sub(r"^```.*?^```$", "", (DOCS / page).read_text(), flags=re.MULTILINE | re.DOTALL)
    for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in table.splitlines()]
        yield rows[0][0], [found for row in rows[2:] for found in re.findall(r"`([^`]+)`", row[0])]


def names(page, heading, number=0):
    """The names in the first column of a page's table, by its header's first cell."""
    found = [column for header, column in tables_of(page) if header == heading]
    assert len(found[number]) == len(set(found[number])), found[number]
    return set(found[number])


def options_of(command):
    """The long options of a command with what they take."""
    (commands,) = [action for action in build_parser()._actions if action.choices]
    return {
        f"{action.option_strings[-1]} {action.metavar or action.dest.upper()}"
        if action.nargs != 0
        else action.option_strings[-1]
        for action in commands.choices[command]._actions
        if action.option_strings and action.dest != "help"
    }


def report_without_trials():
    plan = {
        "participants": [{"address": "builtin:null"}],
        "tasks": [{"domain": "mock", "task_ids": ["create_task_1"]}],
    }
    return EvaluationReport.model_validate(
        {
            "run_id": "r",
            "status": "interrupted",
            "request": "",
            "plan": plan,
            "created_at": "2026-01-02T03:04:05Z",
            "versions": {},
            "summary": (),
            "trials": (),
            "evaluations": (),
        }
    )


@pytest.mark.parametrize(
    ("number", "model"),
    list(
        enumerate(
            (EvaluationReport, SummaryRow, TrialRow, TrialEvaluations, Evaluation, InteractionStep)
        )
    ),
)
def test_every_key_of_a_result_is_explained(number, model):
    assert names("report.md", "key", number) == set(model.model_fields)


def test_the_keys_of_a_line_of_trials_are_named():
    text = (DOCS / "report.md").read_text()
    paragraph = text.partition("## Trials in full")[2].partition("|")[0]
    assert set(TrialRecord.model_fields) <= set(re.findall(r"`(\w+)`", paragraph))


def test_every_way_to_end_is_explained():
    assert names("report.md", "`status` of a trial") == set(
        get_args(TrialRow.model_fields["status"].annotation)
    )
    assert names("report.md", "`status` of a run") == set(
        get_args(EvaluationReport.model_fields["status"].annotation)
    )
    assert names("report.md", "`termination`") == {*get_args(Termination), "harness_error"}


def test_every_component_is_explained():
    assert names("scoring.md", "component") == set(get_args(ComponentName))


def test_every_config_key_is_explained():
    assert names("requests.md", "key") == set(agentbeats._KEYS)


def test_every_flag_of_run_is_explained():
    assert names("requests.md", "flag") == options_of("run")


def test_every_flag_of_serve_is_explained():
    assert names("a2a.md", "flag") == options_of("serve")


def test_every_refusal_is_explained():
    assert names("requests.md", "code") - {"0", "1", "2", "3", "130"} == set(get_args(RefusalCode))


def test_every_variable_is_explained():
    known = set()
    for field in Settings.model_fields.values():
        alias = field.validation_alias
        known.update(alias.choices if isinstance(alias, AliasChoices) else {alias})
    assert names("models.md", "variable") == known


def test_every_key_of_the_leaderboard_row_is_explained():
    assert names("a2a.md", "key") == set(leaderboard_row(report_without_trials()))


def test_every_repair_is_explained():
    told = set(re.findall(r"`(\w+)`", ParsedReply.__doc__)) - {"repairs"}
    assert names("agents.md", "repair") == told


def test_every_make_target_is_explained():
    targets = re.findall(r"^([a-z_]+):.*## ", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert names("development.md", "target") == {f"make {target}" for target in targets}


def test_every_benchmark_is_explained():
    scripts = {f"benchmarks/{path.name}" for path in (ROOT / "benchmarks").glob("[a-z]*.py")}
    assert names("development.md", "script") == scripts


def test_every_decision_that_is_linked_has_its_number():
    for page in [*DOCS.rglob("*.md"), ROOT / "README.md"]:
        for number, file in re.findall(r"\[decision (\d+)\]\((?:\w+/)*(\d{4})", page.read_text()):
            assert int(number) == int(file), page
