"""`--fail-under` and `--stop-when` as whoever runs them in a pipeline meets them."""

import json

import pytest

from adk_agent.cli import gate
from adk_agent.cli.main import main
from adk_agent.core.plan import EvaluationPlan, Participant, PlannedTasks
from adk_agent.results.report import EvaluationReport
from adk_agent.results.summary import DataOrigin, TrialRow, tables
from tests.fakes.runtime import ManualClock

ORIGIN = DataOrigin(source="test", revision="1")


def trials_of(participant, domain, ends):
    """One trial of each task: `+` passed, `-` not, `?` unscored, `!` failed."""
    status = {"?": "unscored", "!": "failed"}
    return [
        TrialRow(
            participant=participant,
            domain=domain,
            task_id=str(task),
            trial=0,
            seed=1,
            status=status.get(end, "scored"),
            reward={"+": 1.0, "-": 0.0}.get(end),
            reward_breakdown={},
            reason="it broke" if end in status else None,
            termination="user_stop",
            user="scripted",
            turns=1,
            tool_calls=0,
            format_repairs=0,
            duration_ms=1.0,
            trace_id="x",
        )
        for task, end in enumerate(ends)
    ]


def report_of(ends_by_agent, *, status="complete"):
    """A report of how the trials of each agent ended, by domain."""
    domains = list(next(iter(ends_by_agent.values())))
    plan = EvaluationPlan(
        participants=tuple(Participant(address=address) for address in ends_by_agent),
        tasks=tuple(
            PlannedTasks(domain=domain, task_ids=tuple(map(str, range(9)))) for domain in domains
        ),
    )
    rows = [
        row
        for agent, by_domain in ends_by_agent.items()
        for domain, ends in by_domain.items()
        for row in trials_of(agent, domain, ends)
    ]
    return EvaluationReport(
        run_id="r1",
        status=status,
        request="r",
        plan=plan,
        created_at=ManualClock().now(),
        versions={},
        **tables(rows, plan, dict.fromkeys(domains, ORIGIN), {}),
        trials=tuple(rows),
        evaluations=(),
    )


@pytest.mark.parametrize(
    ("ends", "bound", "code", "told"),
    [
        ("+++-", 0.75, 0, "a in mock: pass^1 0.750 (95 % interval 0."),
        ("+++-", 0.76, 1, ") is below 0.76; the interval contains the bound"),
        ("++++", 1.0, 0, "reaches 1"),
        ("----", 0.0, 0, "reaches 0"),
        ("----", 0.9, 1, ") is below 0.9\n"),
        ("+?", 0.5, 0, "pass^1 1.000"),
        ("+?", 0.9, 3, "not decided: 1 trial was not scored, without which pass^1 is 1.000, and"),
        ("-?", 0.5, 3, "with which 0.000-0.500; the report says what is missing"),
        ("-?", 0.6, 1, "is below 0.6"),
        ("--??", 0.5, 3, "2 trials were not scored"),
        ("??", 0.0, 3, "not decided: no trial has a score (2 unscored and 0 failed trials)"),
    ],
)
def test_an_agent_below_the_bound_is_exit_1_and_one_whose_score_is_open_3(
    capsys, ends, bound, code, told
):
    assert gate.exit_code(report_of({"a": {"mock": ends}}), bound) == code
    err = capsys.readouterr().err
    assert err.startswith("greenroom: --fail-under: a in mock: ")
    assert told in err


def test_without_a_bound_only_an_incomplete_run_is_told_by_the_code(capsys):
    assert gate.exit_code(report_of({"a": {"mock": "---"}}), None) == 0
    assert gate.exit_code(report_of({"a": {"mock": "+!"}}, status="incomplete"), None) == 3
    assert capsys.readouterr().err == ""


def test_a_run_that_was_interrupted_decides_nothing_and_tells_every_score(capsys):
    report = report_of({"a": {"mock": "-"}}, status="interrupted")
    assert gate.exit_code(report, 0.5) == 3
    err = capsys.readouterr().err
    assert "is below 0.5" in err
    assert "not decided: the run was interrupted" in err


def test_failed_trials_that_decide_leave_the_gate_undecided(capsys):
    report = report_of({"a": {"mock": "-!"}}, status="incomplete")
    assert gate.exit_code(report, 0.5) == 3
    err = capsys.readouterr().err
    assert "pass^1 is 0.000 with its 1 failed trials counted as not passed, and 0.500" in err
    assert gate.exit_code(report, 0.6) == 1
    assert "pass^1 0.000-0.500" in capsys.readouterr().err


def test_every_agent_is_held_to_the_bound_over_all_domains(capsys):
    good, mixed = {"mock": "++", "airline": "++"}, {"mock": "++", "airline": "--"}
    assert gate.exit_code(report_of({"a": good, "b": mixed}), 0.5) == 0
    assert gate.exit_code(report_of({"a": good, "b": mixed}), 0.6) == 1
    err = capsys.readouterr().err
    assert "a in 2 domains: pass^1 1.000" in err
    assert "b in 2 domains: pass^1 0.500" in err


def test_one_agent_without_a_score_leaves_the_gate_undecided_whatever_others_got():
    report = report_of({"a": {"mock": "--"}, "b": {"mock": "??"}})
    assert gate.exit_code(report, 0.5) == 3


def test_floor_and_ceiling_are_not_held_to_the_bound_beside_an_agent(capsys):
    marks = {"builtin:null": {"mock": "--"}, "builtin:oracle": {"mock": "++"}}
    assert gate.exit_code(report_of({**marks, "a": {"mock": "++"}}), 0.5) == 0
    assert "builtin" not in capsys.readouterr().err
    assert gate.exit_code(report_of(marks), 0.5) == 1
    assert "builtin:null in mock: pass^1 0.000" in capsys.readouterr().err


def test_a_pipeline_stops_a_run_early_is_told_the_gate_and_resumes_the_rest(tmp_path, capsys):
    request = json.dumps(
        {
            "participants": {"agent": "builtin:null"},
            "config": {"domain": "mock", "num_tasks": 1, "num_trials": 3, "max_concurrency": 1},
        }
    )
    folder = ["--results-dir", str(tmp_path), "--quiet"]
    flags = ["--fail-under", "0.9", "--stop-when", "trials >= 2"]
    assert main(["run", request, *folder, *flags]) == 1
    shown = capsys.readouterr()
    assert "builtin:null in mock: pass^1 0.000" in shown.err
    assert "warning: stopped early, as asked, after 2 of 3 trials" in shown.out
    [run] = (path.name for path in tmp_path.iterdir())
    assert main(["status", "--results-dir", str(tmp_path)]) == 0
    assert f"resume with: greenroom resume {run}" in capsys.readouterr().out
    assert main(["resume", run, *folder, "--fail-under", "0"]) == 0
    assert "reaches 0" in capsys.readouterr().err
    report = json.loads((tmp_path / run / "report.json").read_text())
    assert len(report["trials"]) == 3


def test_a_rule_that_cannot_be_read_is_refused_before_anything_is_done(tmp_path, capsys):
    for command in (["run", "builtin:null on one mock task", "--dry-run"], ["resume", "nope"]):
        code = main([*command, "--stop-when", "luck > 3", "--results-dir", str(tmp_path)])
        assert code == 2
        assert "'luck' is no figure" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_dry_run_shows_the_rule_and_the_gate_in_the_explicit_command(tmp_path, capsys):
    flags = ["--stop-when", "interval < 0.1", "--fail-under", "0.6"]
    request = ["run", "builtin:null on one mock task", "--dry-run"]
    assert main([*request, *flags, "--results-dir", str(tmp_path)]) == 0
    assert "--stop-when 'interval < 0.1' --fail-under 0.6" in capsys.readouterr().out
