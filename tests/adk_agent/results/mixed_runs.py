"""Reports of runs whose trials end as a test says."""

from adk_agent.core.plan import EvaluationPlan, Participant, PlannedTasks
from adk_agent.results.report import EvaluationReport
from adk_agent.results.summary import DataOrigin, DomainReferences, ReferencePlay, TrialRow, tables
from tests.fakes.runtime import ManualClock

AGENT = "http://agent:9010"
ORIGIN = DataOrigin(source="test", revision="1")
PASSED, LOST, UNSCORED, AGENT_ERROR = "+", "-", "?", "e"
FAILED = {"i": "infrastructure", "u": "user", "h": "harness"}
FAULTS = (AGENT_ERROR, *FAILED)


def row(task, trial, end, agent=AGENT):
    status = "failed" if end in FAILED else "unscored" if end == UNSCORED else "scored"
    fault = "agent" if end == AGENT_ERROR else FAILED.get(end)
    return TrialRow(
        participant=agent,
        domain="mock",
        task_id=str(task),
        trial=trial,
        seed=1,
        status=status,
        reward={PASSED: 1.0, LOST: 0.0, AGENT_ERROR: 0.0}.get(end),
        reward_breakdown={},
        reason=None if end in (PASSED, LOST) else "it broke",
        fault=fault,
        termination="user_stop",
        user="scripted",
        turns=1,
        tool_calls=0,
        format_repairs=0,
        duration_ms=1.0,
        trace_id="x",
    )


def report_of(ends, *, run_id="run-2", floor=None, agent=AGENT):
    """The report of trials that ended so: a string for each task, a letter for each trial."""
    plan = EvaluationPlan(
        participants=(Participant(address=agent),),
        tasks=(PlannedTasks(domain="mock", task_ids=tuple(map(str, range(len(ends))))),),
        num_trials=max(map(len, ends)),
    )
    rows = [
        row(task, trial, end, agent)
        for task, each in enumerate(ends)
        for trial, end in enumerate(each)
    ]
    broken = any(each.status == "failed" for each in rows)
    played = ReferencePlay(agent="builtin:null", user="scripted", rewards=floor or {})
    references = {"mock": DomainReferences(floor=played)} if floor else {}
    return EvaluationReport(
        run_id=run_id,
        status="incomplete" if broken else "complete",
        request="r",
        plan=plan,
        created_at=ManualClock().now(),
        versions={},
        **tables(rows, plan, {"mock": ORIGIN}, references),
        trials=tuple(rows),
        evaluations=(),
    )
