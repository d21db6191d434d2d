"""A run as exports see it: as far as it came, each trial once."""

from collections import Counter

import pytest

from adk_agent.runs import store as runs
from adk_agent.runs.results import results_so_far
from adk_agent.runs.tracking import read_status

from .conftest import trial


def test_a_run_that_was_interrupted_is_exported_as_far_as_it_came(stored, export):
    results_dir = stored(trial(), trial("update_task_1"))
    with (results_dir / "run-1" / "trials.jsonl").open("a") as lines:
        lines.write('{"row": {"participant": "builtin:nu')
    code, out, err = export(results_dir, "csv", "--out", "-")
    assert (code, out.count("\n")) == (0, 3)
    assert err == "greenroom: 2 of 4 trials of run run-1 have ended\n"


def test_a_trial_that_was_repeated_is_there_once(stored, export):
    results_dir = stored(trial(reward=0.0), trial())
    lines = export(results_dir, "otlp", "--out", "-")[1].splitlines()
    assert len(lines) == 1
    assert '"passed"' in lines[0]


def test_a_run_without_an_ended_trial_has_nothing_to_export(stored, export):
    results_dir = stored(trial())
    (results_dir / "run-1" / "trials.jsonl").write_text("")
    code, out, err = export(results_dir, "csv")
    assert (code, out) == (2, "")
    assert "no trial that ended" in err


def test_a_trial_is_found_though_its_agents_address_is_masked(stored, export, monkeypatch):
    monkeypatch.setenv("GREENROOM_AUTH_TOKEN", "hunter2-hunter2")
    results_dir = stored(trial(participant="http://a.test/hunter2-hunter2"))
    code, out, _ = export(results_dir, "otlp", "--out", "-")
    assert (code, out.count("\n")) == (0, 1)
    assert "http://a.test/***" in out


def test_every_trial_is_read_once_however_many_files_are_written(stored, export, monkeypatch):
    read = Counter()
    parsed = runs._parsed

    def counting(line, kind, path, number):
        read[kind.__name__] += 1
        return parsed(line, kind, path, number)

    records = [trial(participant=f"builtin:{n}", number=k) for n in range(4) for k in range(2)]
    results_dir = stored(*records)
    report = results_so_far(results_dir, "run-1")[1]
    (results_dir / "run-1" / "report.json").write_text(
        report.model_copy(update={"status": "complete"}).to_json()
    )
    status = read_status(results_dir, "run-1").model_copy(update={"state": "complete"})
    (results_dir / "run-1" / "status.json").write_text(status.model_dump_json())
    monkeypatch.setattr(runs, "_parsed", counting)
    assert export(results_dir, "tau2")[0] == 0
    assert read == {"_Keyed": 8, "TrialRecord": 8}


def test_an_export_that_would_not_be_whole_is_refused(stored, export):
    results_dir = stored(trial(), trial("update_task_1"))
    report = results_so_far(results_dir, "run-1")[1]
    lines = results_dir / "run-1" / "trials.jsonl"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("adk_agent.present.exports.played.results_so_far", lambda *_: (None, report))
        lines.write_text(lines.read_text().splitlines()[0] + "\n")
        code, _, err = export(results_dir, "tau2")
    assert code == 3
    assert "lacks 1 of the 2 trials" in err
