"""Runs as AgentBeats records, read by the leaderboard's own queries."""

import json
from pathlib import Path

import pytest

from adk_agent.results.leaderboard import leaderboard_row
from adk_agent.runs.store import load_report

from .conftest import UNSCORED, trial

QUERIES = Path(__file__).parents[4] / "data" / "leaderboard"


def test_the_record_holds_the_row_of_the_report(played, exported):
    [(name, text)] = exported(played.results_dir, "agentbeats").items()
    report = load_report(played.results_dir, "run-1")
    assert name == "agentbeats.json"
    assert json.loads(text) == {
        "participants": {"agent": played.url},
        "results": [leaderboard_row(report)],
    }


def test_the_leaderboards_query_reads_a_record_for_each_participant(stored, export, tmp_path):
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed: make setup")
    results_dir = stored(
        trial(),
        trial(number=1, reward=0.0),
        trial(participant="builtin:echo"),
        trial(number=1, participant="builtin:echo", **UNSCORED | {"reason": "needs a judge"}),
    )
    folder = tmp_path / "records"
    assert export(results_dir, "agentbeats", "--out", f"{folder}/")[0] == 0
    with duckdb.connect() as database:
        database.execute(
            "CREATE TABLE results AS SELECT * FROM read_json_auto(?, union_by_name = true)",
            [sorted(map(str, folder.glob("*.json")))],
        )
        found = database.execute((QUERIES / "overall.sql").read_text()).fetchall()
    # Id, domain, pass rate over scored trials and over all of them.
    assert [row[:4] for row in found] == [
        ("builtin:null", "mock", 50.0, 50.0),
        ("builtin:echo", "mock", 100.0, 50.0),
    ]
