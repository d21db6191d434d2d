"""Evaluations of a team's trials, and their row."""

from adk_agent.results.team_summary import team_row
from evals.base import Evaluation


def graph(*labels, nodes=("a", "b", "c"), calls=4, observed=4, not_believed=0, findings=()):
    return Evaluation(
        evaluator="graph",
        version="1",
        tier=1,
        status="scored",
        values={"density": 0.5},
        skipped={"modularity": "too few"},
        details={
            "labels": list(labels),
            "findings": [
                {"name": name, "agents": ["a"], "statement": f"{name}!"} for name in findings
            ],
            "graph": {
                "nodes": list(nodes),
                "agent_calls": calls,
                "self_calls": 0,
                "observed": observed,
                "not_believed": not_believed,
                "contradictions": not_believed,
            },
            "problems": [],
            "metrics": {"density": {"value": 0.5}},
        },
    )


def judged(score, *, rules=None, flags=(), by="rules", warnings=()):
    values = {"overall_score": score} | ({} if rules is None else {"rules_score": rules})
    return Evaluation(
        evaluator="judge",
        version="1",
        tier=2,
        status="scored",
        values=values,
        details={"flags": [{"kind": kind, "sentence": f"{kind}!"} for kind in flags]},
        warnings=warnings,
        produced_by=by,
    )


def row(*trials, failed=0, wired=False):
    return team_row(
        list(trials),
        participant="http://a",
        domain="coordination",
        consistency={},
        failed=failed,
        wired=wired,
    )
