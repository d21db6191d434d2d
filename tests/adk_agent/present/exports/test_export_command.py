"""`greenroom export`: where files go, what is told, what is refused, and what never leaves."""

import json
from collections import Counter
from pathlib import Path

import pytest
from pydantic import SecretStr

from adk_agent.cli.main import main
from adk_agent.core.veil import Veil
from adk_agent.present.exports.output import names_of
from adk_agent.runs import store as runs
from adk_agent.runs.results import results_so_far
from adk_agent.runs.tracking import read_status
from evals.diagnosis import CallDifference, Diagnosis

from .conftest import BROKEN, trial

FORMATS = ["tau2", "inspect", "junit", "otlp", "agentbeats", "csv"]
LEAKED = "sk-abcdefghijklmnop1234"


def test_the_path_of_what_was_written_is_on_stdout_and_the_default_is_the_runs_folder(
    played, export
):
    assert export(played.results_dir, "csv") == (0, f"{played.folder / 'trials.csv'}\n", "")


def test_a_file_of_ones_own_and_a_folder_of_ones_own(played, export, tmp_path):
    assert export(played.results_dir, "csv", "--out", str(tmp_path / "a" / "b.csv"))[0] == 0
    assert (tmp_path / "a" / "b.csv").read_text().startswith("run_id,")
    for folder in (str(tmp_path), f"{tmp_path}/new/"):
        assert export(played.results_dir, "csv", "--out", folder)[0] == 0
    assert (tmp_path / "trials.csv").read_bytes() == (tmp_path / "new/trials.csv").read_bytes()


def test_stdout_takes_one_file_and_no_more(stored, export):
    results_dir = stored(trial(), trial(participant="builtin:echo"))
    code, out, _ = export(results_dir, "csv", "--out", "-")
    assert (code, out.count("\n")) == (0, 3)
    code, out, err = export(results_dir, "agentbeats", "--out", "-")
    assert (code, out) == (2, "")
    assert "2 files (agentbeats-builtin-null.json, agentbeats-builtin-echo.json)" in err


def test_several_files_are_not_written_into_one(stored, export, tmp_path):
    taken = tmp_path / "taken.json"
    taken.write_text("mine")
    results_dir = stored(trial(), trial(participant="builtin:echo"))
    code, _, err = export(results_dir, "agentbeats", "--out", str(taken))
    assert (code, taken.read_text()) == (2, "mine")
    assert "must name a folder" in err


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


@pytest.mark.parametrize(
    ("run", "problem"), [("nowhere", "no run 'nowhere'"), ("../x", "not the id")]
)
def test_a_run_that_is_not_there_is_exit_2(stored, export, run, problem):
    code, out, err = export(stored(trial()), "csv", run)
    assert (code, out) == (2, "")
    assert problem in err


def test_a_run_without_an_ended_trial_has_nothing_to_export(stored, export):
    results_dir = stored(trial())
    (results_dir / "run-1" / "trials.jsonl").write_text("")
    code, out, err = export(results_dir, "csv")
    assert (code, out) == (2, "")
    assert "no trial that ended" in err


def test_a_folder_that_cannot_be_written_is_exit_3_and_leaves_no_part_behind(stored, export):
    results_dir = stored(trial())
    target = results_dir / "file"
    target.write_text("")
    code, out, err = export(results_dir, "csv", "--out", str(target / "trials.csv"))
    assert (code, out) == (3, "")
    assert "cannot use" in err


@pytest.mark.parametrize("to", FORMATS)
def test_a_secret_is_in_no_export(stored, export, monkeypatch, to):
    monkeypatch.setenv("GREENROOM_AUTH_TOKEN", "hunter2-hunter2")
    said = f"the token is hunter2-hunter2, the key {LEAKED}"
    broken = trial("update_task_1", **BROKEN | {"reason": said, "fault": "infrastructure"})
    record = trial(
        steps=({"request_text": said, "response_text": said, "error": said},),
        messages=({"role": "user", "content": said}, {"role": "assistant", "content": said}),
        user=said,
    )
    code, out, err = export(stored(record, broken), to, "--out", "-")
    assert (code, "hunter2" in out, LEAKED in out) == (0, False, False), err
    assert to == "agentbeats" or "***" in out


def test_the_same_value_comes_back_where_there_is_nothing_to_hide():
    value = {"key": ["a", 1, None, {"b": "total_tokens: 7"}], "token": 2.5}
    assert Veil([SecretStr("abc")]).value(value) == value


PLACEHOLDERS = [
    *("none", "test", "token", "agent", "mock", "trial", "reward"),  # too short for secrets
    *("scored_by", "create_task_1", "user_stop", "tool_calls", "participant"),  # our own names
]


@pytest.mark.parametrize("key", PLACEHOLDERS)
def test_a_placeholder_for_a_key_changes_no_name_and_no_identifier(
    stored, export, monkeypatch, key
):
    results_dir = stored(trial(messages=({"role": "user", "content": "Hi", "tool_calls": None},)))
    before = {to: export(results_dir, to, "--out", "-")[:2] for to in ("csv", "junit", "tau2")}
    assert {code for code, _ in before.values()} == {0}
    monkeypatch.setenv("AGENTBEATS_LLM_API_KEY", key)
    for to, (_, text) in before.items():
        assert export(results_dir, to, "--out", "-")[:2] == (0, text)


def test_of_a_model_only_free_texts_are_masked():
    secret = "scripted-mock-1"
    row = trial(
        secret,
        status="failed",
        reward=None,
        reason=f"saw {secret}",
        domain=secret,
        reward_breakdown={secret: 1.0},
    ).row
    arguments = {secret: [secret], "role": secret}
    call = CallDifference(how="superfluous", name="f", arguments=arguments)
    why = Diagnosis(kind="harness", side="harness", summary=secret, calls=(call,))
    veiled = Veil([SecretStr(secret)]).model(row.model_copy(update={"diagnosis": why}))
    assert (veiled.task_id, veiled.domain, veiled.reward_breakdown) == (secret, secret, {secret: 1})
    assert (veiled.reason, veiled.diagnosis.summary) == ("saw ***", "***")
    assert veiled.diagnosis.calls[0].arguments == {"***": ["***"], "role": secret}
    kept = Veil([SecretStr("harness-"), SecretStr("superfluous")]).model(why)
    assert (kept.kind, kept.side, kept.calls[0].how) == ("harness", "harness", "superfluous")


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


def test_names_of_files_are_distinct_and_without_signs_that_a_shell_reads():
    labels = ["http://a:1/x y", "http://a:1/x*y", "../../etc/passwd"]
    names = names_of("t", ".json", labels)
    assert names == ["t-http-a-1-x-y.json", "t-http-a-1-x-y-2.json", "t-etc-passwd.json"]


def test_what_is_written_is_the_same_every_time(stored, export):
    results_dir = stored(trial(steps=({},)), trial("update_task_1"))
    for to in ("tau2", "junit", "otlp", "agentbeats", "csv"):
        folders = [str(results_dir / name) + "/" for name in ("one", "two")]
        paths = [Path(export(results_dir, to, "--out", folder)[1].strip()) for folder in folders]
        texts = [path.read_text(encoding="utf-8") for path in paths]
        assert texts[0] == texts[1]
        assert to in ("junit", "csv", "otlp") or json.loads(texts[0])


@pytest.mark.parametrize("command", [["export", "--to", "csv"], ["view", "--no-open"]])
@pytest.mark.parametrize("name", ["trials.jsonl", "manifest.json", "report.json"])
def test_a_file_of_a_run_is_never_replaced(command, name, played, capsys):
    own = played.folder / name
    before = own.read_bytes()
    given = ["--results-dir", str(played.results_dir), "--out", str(own)]
    assert main([*command, played.run_id, *given]) == 2
    assert "is a file of a run; choose another name" in capsys.readouterr().err
    assert own.read_bytes() == before


def test_what_is_no_regular_file_is_written_to_and_stays_what_it_is(played, export):
    assert export(played.results_dir, "csv", "--out", "/dev/null")[0] == 0
    assert Path("/dev/null").is_char_device()


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
