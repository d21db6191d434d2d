"""`greenroom export`: what is told and refused, and what never leaves."""

import json
from pathlib import Path

import pytest

from .conftest import BROKEN, trial

FORMATS = ["tau2", "inspect", "junit", "otlp", "agentbeats", "csv"]
LEAKED = "sk-abcdefghijklmnop1234"


@pytest.mark.parametrize(
    ("run", "problem"), [("nowhere", "no run 'nowhere'"), ("../x", "no run at '../x'")]
)
def test_a_run_that_is_not_there_is_exit_2(stored, export, run, problem):
    code, out, err = export(stored(trial()), "csv", run)
    assert (code, out) == (2, "")
    assert problem in err


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


def test_what_is_written_is_the_same_every_time(stored, export):
    results_dir = stored(trial(steps=({},)), trial("update_task_1"))
    for to in ("tau2", "junit", "otlp", "agentbeats", "csv"):
        folders = [str(results_dir / name) + "/" for name in ("one", "two")]
        paths = [Path(export(results_dir, to, "--out", folder)[1].strip()) for folder in folders]
        texts = [path.read_text(encoding="utf-8") for path in paths]
        assert texts[0] == texts[1]
        assert to in ("junit", "csv", "otlp") or json.loads(texts[0])
