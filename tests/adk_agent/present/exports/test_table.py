"""Runs as CSV: read back by the module of the standard library."""

import csv
import io
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adk_agent.core.escaping import escape_controls
from adk_agent.core.redaction import ModelRedactor
from adk_agent.present.exports.played import open_run
from adk_agent.present.exports.table import inert, to_csv
from adk_agent.runs.store import load_trials
from evals.diagnosis import Diagnosis
from tau_bridge.benchmark import DomainInfo
from tau_bridge.benchmarks import Benchmarks

from .conftest import BROKEN, Questions, trial

PAGE = Path(__file__).parents[4] / "docs" / "exports.md"


@pytest.fixture
def rows(exported):
    def read(results_dir):
        [text] = exported(results_dir, "csv").values()
        return list(csv.DictReader(io.StringIO(text, newline="")))

    return read


def test_every_trial_is_a_row_with_its_values(played, rows):
    found = rows(played.results_dir)
    assert list(found[0]) == described_columns()
    ours = {(r.row.task_id, r.row.trial): r.row for r in load_trials(played.results_dir, "run-1")}
    assert len(found) == 4
    for row in found:
        trial_row = ours[row["task_id"], int(row["trial"])]
        assert float(row["reward"]) == trial_row.reward
        assert row["passed"] == str(trial_row.passed).lower()
        assert float(row["duration_ms"]) == trial_row.duration_ms
        assert row["trace_id"] == trial_row.trace_id
        assert (row["participant"], row["status"]) == (played.url, "scored")
        assert float(row["reward_db"]) == trial_row.reward_breakdown["DB"]
        assert (row["cost"], row["fault"]) == ("", "")


def test_a_trial_without_a_reward_has_none_and_not_0(stored, rows):
    [row] = rows(stored(trial(**BROKEN | {"reason": 'a,\n"b"', "fault": "agent"})))
    assert (row["reward"], row["passed"], row["status"]) == ("", "", "failed")
    assert (row["reason"], row["fault"]) == ('a,\n"b"', "agent")


def test_a_diagnosis_has_its_columns(stored, rows):
    why = Diagnosis(kind="policy", side="agent", summary="it did what it may not")
    [row] = rows(stored(trial(reward=0.0, diagnosis=why)))
    found = [row[f"failure_{name}"] for name in ("kind", "side", "summary")]
    assert found == ["policy", "agent", "it did what it may not"]


def test_repairs_are_told_by_kind_the_most_frequent_first(stored, rows):
    kinds = {"fenced": 1, "plain_text": 3}
    [row] = rows(stored(trial(format_repairs=4, repair_kinds=kinds)))
    assert (row["format_repairs"], row["repair_kinds"]) == ("4", "plain_text 3, fenced 1")


def test_a_text_that_a_spreadsheet_would_run_is_quoted_and_a_number_is_not(stored, rows):
    formula = '=HYPERLINK("http://example.test")'
    [row] = rows(stored(trial(**BROKEN | {"reason": formula, "fault": "agent", "cost": -0.5})))
    assert row["reason"] == f"'{formula}"
    assert row["cost"] == "-0.5"


@given(st.text())
def test_a_cell_never_begins_as_a_formula_keeps_its_text_and_is_printable(text):
    cell = inert(text)
    assert not cell.startswith(("=", "+", "-", "@", "\t", "\r"))
    assert cell in (escape_controls(text), f"'{escape_controls(text)}")
    assert all(sign.isprintable() or sign in "\n\t" for sign in cell)


def test_a_component_of_another_benchmark_has_a_column_after_those_of_the_bundled_ones(
    stored, benchmarks
):
    class Careful(Questions):
        def domains(self):
            return (DomainInfo(name="questions", components=("ANSWER", "SAFETY")),)

    folder = stored(trial(reward_breakdown={"DB": 1.0, "GONE": 0.0}))
    run = open_run(folder, "run-1", redactor=ModelRedactor())
    [output] = to_csv(run, Benchmarks([*benchmarks.all, Careful()])).outputs
    header, row = csv.reader(io.StringIO("".join(output.chunks), newline=""))
    known = described_columns()
    end = known.index("fault")
    added = ["reward_answer", "reward_safety", "reward_gone"]
    assert header == [*known[:end], *added, *known[end:]]
    assert [row[header.index(name)] for name in added] == ["", "", "0.0"]


def test_components_that_differ_in_case_share_a_column_and_keep_their_values(stored, benchmarks):
    class Lower(Questions):
        def domains(self):
            return (DomainInfo(name="questions", components=("db",)),)

    folder = stored(trial(), trial("sum", domain="questions", reward_breakdown={"db": 0.5}))
    run = open_run(folder, "run-1", redactor=ModelRedactor())
    [output] = to_csv(run, Benchmarks([*benchmarks.all, Lower()])).outputs
    rows = csv.DictReader(io.StringIO("".join(output.chunks), newline=""))
    assert [row["reward_db"] for row in rows] == ["1.0", "0.5"]


def described_columns():
    """The columns that the page describes, in its order."""
    table = PAGE.read_text().split("| Column |")[1].split("\n\n")[0]
    named = re.findall(r"^\| (`[^|]*`) \|", table, re.MULTILINE)
    return [name for cell in named for name in re.findall(r"`(\w+)`", cell)]
