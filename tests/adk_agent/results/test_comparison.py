"""Two runs compared by task, and the gate that follows."""

import json
from datetime import UTC, datetime

import pytest

from adk_agent.cli.main import main
from adk_agent.core.errors import RequestError
from adk_agent.core.plan import EvaluationPlan, Participant, PlannedTasks
from adk_agent.results.comparison import compare_runs, told
from adk_agent.results.report import EvaluationReport, TrialEvaluations
from adk_agent.results.summary import DataOrigin, TrialRow, tables
from adk_agent.runs.tracking import RunStatus
from evals.base import Evaluation

NOW = datetime(2026, 1, 2, tzinfo=UTC)
OLD, NEW = "http://old:1", "http://new:1"


def trial(agent, task, number, passed, domain="mock"):
    scored = passed is not None
    return TrialRow(
        participant=agent,
        domain=domain,
        task_id=task,
        trial=number,
        seed=1,
        status="scored" if scored else "failed",
        reward=float(passed) if scored else None,
        reward_breakdown={},
        reason=None if scored else "gone",
        termination="user_stop",
        user="scripted",
        turns=1,
        tool_calls=0,
        format_repairs=0,
        duration_ms=1.0,
        trace_id="t",
    )


def report(run_id, outcomes, *, roles=None, revision="r1", latencies=(), **changes):
    """A run: for each agent and task the outcomes of its trials; None is a failed one."""
    rows = tuple(
        trial(agent, task, number, passed)
        for agent, tasks in outcomes.items()
        for task, trials in tasks.items()
        for number, passed in enumerate(trials)
    )
    names = tuple(dict.fromkeys(row.task_id for row in rows))
    plan = EvaluationPlan(
        participants=tuple(
            Participant(address=agent, role=(roles or {}).get(agent, "agent")) for agent in outcomes
        ),
        tasks=(PlannedTasks(domain="mock", task_ids=names),),
        num_trials=max(len(trials) for tasks in outcomes.values() for trials in tasks.values()),
    )
    fields = {
        "run_id": run_id,
        "status": "complete",
        "request": "r",
        "plan": plan,
        "created_at": NOW,
        "versions": {"greenroom": "1"},
        "trials": rows,
        "evaluations": tuple(
            TrialEvaluations(
                scope="trial",
                participant=agent,
                domain="mock",
                task_id=task,
                trial=0,
                results=(
                    Evaluation(
                        evaluator="latency",
                        version="1",
                        tier=2,
                        status="scored",
                        values={"p50_ms": value},
                    ),
                ),
            )
            for agent, task, value in latencies
        ),
        **tables(rows, plan, {"mock": DataOrigin(source="s", revision=revision)}, {}),
    }
    return EvaluationReport(**{**fields, **changes})


def one(agent, passed, tasks=20, trials=4):
    """An agent that passes all trials of the first `passed` tasks, and none of the others."""
    return {agent: {f"t{n:02}": [n < passed] * trials for n in range(tasks)}}


def test_one_agent_before_and_after_is_compared_whatever_its_address():
    found = compare_runs(report("a", one(OLD, 5)), report("b", one(NEW, 13)))
    (row,) = found.agents
    assert (row.first_agent, row.second_agent) == (OLD, NEW)
    assert row.comparison.difference == 0.4
    # 8 tasks moved, all one way: 2 of the 2^8 sign flips are as extreme.
    assert (row.comparison.p_value, row.comparison.exact) == (
        pytest.approx(2 / 256, abs=1e-6),
        True,
    )
    assert row.comparison.interval.low > 0
    assert [move.task_id for move in row.gained] == [f"t{n:02}" for n in range(5, 13)]
    assert row.lost == ()
    assert not row.is_regression
    assert "better" in told(found)


def test_several_agents_are_paired_by_address_then_by_role():
    first = report("a", {**one(OLD, 5), **one("http://x", 3)}, roles={OLD: "airline_agent"})
    second = report("b", {**one("http://x", 3), **one(NEW, 2)}, roles={NEW: "airline_agent"})
    pairs = [(row.first_agent, row.second_agent) for row in compare_runs(first, second).agents]
    assert pairs == [(OLD, NEW), ("http://x", "http://x")]


def test_agents_that_do_not_belong_together_are_named():
    first = report("a", {**one(OLD, 5), **one("http://x", 3)}, roles={OLD: "p", "http://x": "q"})
    with pytest.raises(RequestError, match=r"http://old:1, http://x\) has its like in run b"):
        compare_runs(first, report("b", one(NEW, 2)))


def test_floor_and_ceiling_beside_an_agent_are_not_compared():
    first = report("a", {**one(OLD, 5), **one("builtin:null", 1)})
    (row,) = compare_runs(first, report("b", one(NEW, 5))).agents
    assert (row.first_agent, row.comparison.p_value) == (OLD, 1.0)


def test_failed_trials_count_against_the_second_run_and_unplayed_tasks_on_neither_side():
    first = report("a", {OLD: {"t0": [True, None], "t1": [None, None], "t2": [False, False]}})
    second = report("b", {OLD: {"t0": [True, True], "t1": [True, True], "t3": [True, True]}})
    (row,) = compare_runs(first, second).agents
    # t1 failed in the first run: passed, as what is measured against; else not passed.
    assert (row.comparison.tasks, row.comparison.difference) == (2, 0.0)
    assert (row.best_case.difference, row.failed_trials) == (0.75, 3)
    assert (row.only_first, row.only_second) == (1, 1)


def test_runs_without_a_task_in_common_are_refused():
    first, second = report("a", {OLD: {"t0": [True]}}), report("b", {OLD: {"t1": [True]}})
    with pytest.raises(RequestError, match="no task in common that was scored in both"):
        compare_runs(first, second)


def test_other_data_are_refused_unless_they_are_meant():
    first, second = report("a", one(OLD, 5)), report("b", one(OLD, 5), revision="r2")
    with pytest.raises(RequestError, match=r"s, r1 in the first run, s, r2 in the second.*--other"):
        compare_runs(first, second)
    found = compare_runs(first, second, other_data=True)
    assert "data of mock: s, r1" in found.warnings[0]


def test_what_else_differs_is_told():
    first = report("a", one(OLD, 5), versions={"greenroom": "0"})
    second = report("b", one(OLD, 5), status="interrupted")
    assert compare_runs(first, second).warnings == (
        "version of greenroom: 0 in the first run, 1 in the second",
        "run b is interrupted",
    )


def test_latencies_drift_over_the_common_tasks_alone():
    first = report(
        "a", {OLD: {"t0": [True], "t1": [True]}}, latencies=[(OLD, "t0", 10.0), (OLD, "t1", 99.0)]
    )
    second = report("b", {OLD: {"t0": [True]}}, latencies=[(OLD, "t0", 30.0)])
    (drift,) = compare_runs(first, second).agents[0].drift
    assert (drift.metric, drift.first, drift.second) == ("p50_ms", 10.0, 30.0)


def test_what_it_would_take_to_show_a_difference_is_said():
    second = one(OLD, 5)
    second[OLD]["t05"] = [True, False, False, False]
    text = told(compare_runs(report("a", one(OLD, 5)), report("b", second)))
    assert "no significant difference (p = 1)" in text
    assert "to show the difference that was seen" in text
    assert "gained: 1 tasks: mock/t05 (0 to 0.25)" in text


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
    assert "http://x is not compared, for it has no scored task in common" in out
    assert main(["compare", "before", "after", "--fail-on-regression", *folder]) == 3
    err = capsys.readouterr().err
    assert "no verdict" in err
    assert "http://x has no task in common; http://old:1 has 8 failed trials that decide" in err


def test_agents_without_a_counterpart_are_named():
    second = report("b", {**one(OLD, 5), **one("http://y", 5)})
    first = report("a", {**one(OLD, 5), **one("http://x", 3)}, roles={"http://x": "other"})
    assert compare_runs(first, second).warnings == (
        "http://x of run a has no counterpart and is not compared",
        "http://y of run b has no counterpart and is not compared",
    )


def test_another_user_is_told_whatever_the_address_and_another_way_of_scoring_refused():
    first, second = report("a", one(OLD, 5)), report("b", one(NEW, 5))
    trials = tuple(row.model_copy(update={"user": "llm:m"}) for row in second.trials)
    found = compare_runs(first, second.model_copy(update={"trials": trials}))
    assert found.warnings == (
        f"user: scripted for {OLD} in the first run, llm:m for {NEW} in the second",
    )
    plan = second.plan.model_copy(update={"evaluation_type": "action"})
    with pytest.raises(RequestError, match="'all', run b with 'action': these are different"):
        compare_runs(first, second.model_copy(update={"plan": plan}))


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


def test_the_other_way_round_is_the_mirror():
    first, second = report("a", one(OLD, 5)), report("b", one(OLD, 13))
    there = compare_runs(first, second).agents[0].comparison
    back = compare_runs(second, first).agents[0].comparison
    assert (there.interval.low, there.interval.high) == (-back.interval.high, -back.interval.low)
    assert there.p_value == back.p_value


def test_tasks_that_all_moved_alike_are_not_said_to_be_unmoved():
    text = told(compare_runs(report("a", one(OLD, 0)), report("b", one(OLD, 20))))
    assert "better" in text
    assert "their differences do not vary" in text
