"""The rule-based judgement: deductions from 1 for what Tier 1 found.

It reads labels, figures and step ids. It reads no name and no text of the transcript, so that
nothing an agent writes can argue with it.

Labels of one group describe the same weakness from several sides: of each group only the
largest deduction counts. The score is 1 minus the deductions, never below 0. From `QUALITIES` on
it is called excellent, good or fair; below all of them poor.
"""

from __future__ import annotations

from dataclasses import dataclass

from evals.judge.judgment import LLMJudgment, Quality
from evals.judge.measured import Measured
from evals.judge.quoting import shown_id
from evals.outcome import Unscored

MAX_CITED = 20


@dataclass(frozen=True)
class Deduction:
    """The points that one label of Tier 1 costs."""

    label: str
    group: str
    points: float
    metric: str | None
    """The metric that is quoted with it."""
    finding: str
    """The finding whose steps are cited."""


DEDUCTIONS = (
    Deduction("no_progress", "repetition", 0.4, "duplicate_work", "loop"),
    Deduction("loop", "repetition", 0.3, "delegation_cycles", "loop"),
    Deduction("ping_pong", "repetition", 0.2, "ping_pong_share", "ping_pong"),
    Deduction("duplicate_work", "repetition", 0.15, "duplicate_work", "duplicate_work"),
    Deduction("silent_failure", "failures", 0.3, "silent_failures", "silent_failure"),
    Deduction("failed_member", "failures", 0.25, "failed_share", "failed_member"),
    Deduction("over_centralized", "concentration", 0.2, "interaction_share", "over_centralized"),
    Deduction("bottleneck", "concentration", 0.15, "betweenness", "bottleneck"),
    Deduction("hub", "concentration", 0.1, "degree_centralization", "bottleneck"),
    Deduction("bridge", "concentration", 0.1, "betweenness", "bottleneck"),
    Deduction("disconnected", "separation", 0.2, "connected_components", "disconnected"),
    Deduction("isolated_member", "idleness", 0.15, None, "isolated_agent"),
)
"""The largest of each group counts."""

WEAKNESSES = {
    "no_progress": "half of the calls or more repeat an earlier one",
    "loop": "a request comes back to an agent that is already working on it",
    "ping_pong": "calls go back and forth between the same agents",
    "duplicate_work": "the same is asked of the same agent again, although it had answered",
    "silent_failure": "an error was neither made good nor passed on",
    "failed_member": "every call to a member failed",
    "over_centralized": "one agent takes part in too many of the calls",
    "bottleneck": "most paths between agents lead through one of them",
    "hub": "one agent is connected to all, the others hardly to each other",
    "bridge": "two parts of the team are connected by one pair of agents alone",
    "disconnected": "the team falls into groups that never call each other",
    "isolated_member": "a member of the team took no part",
}
"""The finding of each label, in words."""

QUALITIES: tuple[tuple[float, Quality], ...] = ((0.9, "excellent"), (0.65, "good"), (0.4, "fair"))
"""Least score of each; below all of them: poor."""

_STRUCTURES = {
    "balanced": "balanced: the work is spread evenly",
    "hierarchy": "hierarchy: tasks are passed down a tree",
    "pipeline": "pipeline: the work is passed on from one agent to the next",
}
_CLEAN = {
    "failed_share": "no call failed",
    "duplicate_work": "no call repeats an earlier one",
    "delegation_cycles": "no request came back to an agent that was working on it",
}


def rule_judgment(measured: Measured) -> LLMJudgment | Unscored:
    """Judge by the table; unscored where there is no team."""
    reason = measured.not_applicable
    if reason is not None:
        return Unscored(reason=reason)
    present = [deduction for deduction in DEDUCTIONS if deduction.label in measured.labels]
    counted = _largest_of_each_group(present)
    score = round(max(0.0, 1.0 - sum(deduction.points for deduction in counted)), 4)
    return LLMJudgment(
        overall_score=score,
        reasoning=_reasoning(score, counted, present),
        coordination_quality=_quality(score),
        strengths=_strengths(measured),
        weaknesses=tuple(_weakness(deduction, measured) for deduction in present)[:8],
        cited_step_ids=_cited(present, measured),
    )


def _largest_of_each_group(present: list[Deduction]) -> list[Deduction]:
    largest: dict[str, Deduction] = {}
    for deduction in present:
        before = largest.get(deduction.group)
        if before is None or deduction.points > before.points:
            largest[deduction.group] = deduction
    return list(largest.values())


def _reasoning(score: float, counted: list[Deduction], present: list[Deduction]) -> str:
    if not counted:
        return "By rules: 1, since Tier 1 found nothing for which points are taken off."
    taken = ", ".join(f"{deduction.points:g} for {deduction.label}" for deduction in counted)
    text = f"By rules: {score:g} = 1 less {taken}."
    beside = [deduction.label for deduction in present if deduction not in counted]
    if beside:
        text += f" Found too, and of the same kind as a larger one: {', '.join(beside)}."
    return text


def _quality(score: float) -> Quality:
    return next((quality for least, quality in QUALITIES if score >= least), "poor")


def _strengths(measured: Measured) -> tuple[str, ...]:
    structures = [text for label, text in _STRUCTURES.items() if label in measured.labels]
    clean = [text for name, text in _CLEAN.items() if measured.metrics.get(name) == 0]
    return (*structures, *clean)


def _weakness(deduction: Deduction, measured: Measured) -> str:
    text = f"{deduction.label}: {WEAKNESSES[deduction.label]}"
    if deduction.metric is None or deduction.metric not in measured.metrics:
        return text
    return f"{text} ({deduction.metric} {measured.metrics[deduction.metric]:.4g})"


def _cited(present: list[Deduction], measured: Measured) -> tuple[str, ...]:
    shown_by = {finding.name: finding.step_ids for finding in measured.findings}
    ids = [
        shown_id(step_id)
        for deduction in present
        for step_id in shown_by.get(deduction.finding, ())
    ]
    return tuple(dict.fromkeys(ids))[:MAX_CITED]
