"""Reports of small runs, to be compared."""

from datetime import UTC, datetime
from statistics import fmean

from adk_agent.core.plan import EvaluationPlan, Participant, PlannedTasks
from adk_agent.results.headlines import HeadlineRow
from adk_agent.results.report import EvaluationReport, TrialEvaluations
from adk_agent.results.summary import DataOrigin, TrialRow, tables
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


def with_second_benchmark(found, other):
    """A run with the trials of another one beside its own, as of another benchmark."""
    elsewhere = {"domain": "desk"}
    origin = DataOrigin(source="s", revision="r1", benchmark="other")
    return found.model_copy(
        update={
            "trials": found.trials + tuple(t.model_copy(update=elsewhere) for t in other.trials),
            "summary": found.summary
            + tuple(row.model_copy(update={**elsewhere, "data": origin}) for row in other.summary),
        }
    )


def headline(agent, values, *, name="resisted", at_best=None, higher_is_better=True):
    """A headline with a value for each task; `at_best` differs where trials failed."""
    by_task = {str(task): value for task, value in enumerate(values)}
    best = {str(task): value for task, value in enumerate(at_best or ())}
    return HeadlineRow(
        participant=agent,
        domain="suite",
        name=name,
        component="C",
        cases={},
        higher_is_better=higher_is_better,
        tasks=len(values),
        scored=len(values),
        unscored=0,
        failed=sum(low != high for low, high in zip(values, at_best or values, strict=True)),
        by_task=by_task,
        by_task_at_best=best,
        value=fmean(values),
        at_best=fmean(at_best or values),
        interval=None,
    )


def by_headlines(found, *rows):
    """A run that is scored by headlines alone."""
    origin = DataOrigin(source="s", revision="r1", benchmark="suites")
    apart = {"domain": "suite", "data": origin, "by_headlines": True}
    return found.model_copy(
        update={
            "trials": tuple(t.model_copy(update={"domain": "suite"}) for t in found.trials),
            "summary": tuple(row.model_copy(update=apart) for row in found.summary),
            "headlines": rows,
        }
    )
