"""`greenroom compare`: two runs on disk, and the gate that follows."""

import json

import pytest

from adk_agent.cli.main import main
from adk_agent.runs.tracking import RunStatus
from tests.adk_agent.results.compared import NOW, OLD, one, report


def kept(folder, written):
    """A report as a finished run has it on disk."""
    directory = folder / written.run_id
    directory.mkdir()
    status = RunStatus(
        run_id=written.run_id, state="complete", request="r", started_at=NOW, updated_at=NOW
    )
    (directory / "status.json").write_text(status.model_dump_json())
    (directory / "manifest.json").write_text("{}")
    (directory / "report.json").write_text(written.to_json())


def test_the_gate_fails_on_a_significant_loss_alone(tmp_path, capsys):
    for name, passed in (("good", 15), ("same", 14), ("bad", 4)):
        kept(tmp_path, report(name, one(OLD, passed)))
    folder = ("--results-dir", str(tmp_path))
    assert main(["compare", "good", "same", "--fail-on-regression", *folder]) == 0
    assert main(["compare", "good", "bad", *folder]) == 0
    assert main(["compare", "good", "bad", "--fail-on-regression", "--json", *folder]) == 1
    out, err = capsys.readouterr()
    assert f"regression: {OLD}" in err
    assert json.loads(out[out.index("\n{\n") :])["agents"][0]["comparison"]["difference"] == -0.55
    assert main(["compare", "bad", "good", "--fail-on-regression", *folder]) == 0
    assert main(["compare", "good", "nope", *folder]) == 2
    assert "there is no run 'nope'" in capsys.readouterr().err


def test_a_second_agent_that_fails_its_tasks_does_not_pass_the_gate(tmp_path, capsys):
    """Its failed trials decide: the gate cannot tell, and says so."""
    first = {OLD: {f"t{n}": [True] for n in range(12)}, "http://x": {"t0": [True]}}
    second = {
        OLD: {f"t{n}": [True if n < 4 else None] for n in range(12)},
        "http://x": {"t0": [None]},
    }
    kept(tmp_path, report("before", first))
    kept(tmp_path, report("after", second, status="incomplete"))
    folder = ("--results-dir", str(tmp_path))
    assert main(["compare", "before", "after", *folder]) == 0
    out, _ = capsys.readouterr()
    assert "undecided: 8 failed trials decide. Counted against it, worse (-0.667)" in out
    assert "http://x is not compared: it has no scored task in common" in out
    assert main(["compare", "before", "after", "--fail-on-regression", *folder]) == 3
    err = capsys.readouterr().err
    assert "no verdict" in err
    assert (
        "http://x has no task in common; http://old:1 has 8 failed trials that decide the verdict"
        in err
    )


def test_an_agent_or_a_task_that_is_missing_leaves_the_gate_undecided(tmp_path, capsys):
    kept(tmp_path, report("before", {**one(OLD, 5), **one("http://x", 3)}))
    kept(tmp_path, report("after", one(OLD, 5, tasks=19)))
    arguments = ["compare", "before", "after", "--fail-on-regression"]
    assert main([*arguments, "--results-dir", str(tmp_path)]) == 3
    err = capsys.readouterr().err
    assert "http://x is in the first run alone; http://old:1 lacks 1 of 20 tasks" in err


def test_one_run_is_no_two(tmp_path, capsys):
    kept(tmp_path, report("a", one(OLD, 5)))
    assert main(["compare", "a", "a", "--results-dir", str(tmp_path)]) == 2
    assert "a is one run: name two to compare" in capsys.readouterr().err


@pytest.mark.requirement("test:simulator")
def test_runs_with_different_users_are_compared_only_if_that_is_meant(tmp_path, capsys):
    other = report("after", one(OLD, 5))
    trials = tuple(row.model_copy(update={"user": "llm:m"}) for row in other.trials)
    kept(tmp_path, report("before", one(OLD, 5)))
    kept(tmp_path, other.model_copy(update={"trials": trials}))
    arguments = ["compare", "before", "after", "--results-dir", str(tmp_path)]
    assert main(arguments) == 2
    assert "scripted in the first run, llm:m in the second" in capsys.readouterr().err
    assert main([*arguments, "--across-users"]) == 0
    assert "scripted in the first run, llm:m in the second" in capsys.readouterr().out
