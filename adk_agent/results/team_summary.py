"""TeamRow: the coordination of one participant's team over all trials, by the evaluators."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from pydantic import Field, TypeAdapter

from adk_agent.results.summary import Row, by_frequency, mean, rounded
from evals.base import Evaluation
from evals.graph.evaluator import applicability
from evals.graph.labels import RESTS_ON_ALL_CALLS
from evals.judge.evaluator import FELL_BACK
from evals.judge.flags import Flag
from evals.trace import ASSESSOR

GRAPH, JUDGE = "graph", "judge"
RULES_SCORE = "rules_score"
_FLAGS: TypeAdapter[list[Flag]] = TypeAdapter(list[Flag])
CUT_OFF = "the trial failed, so only part of the team's work was observed"
MOST_FINDINGS = 30
Sight = Literal["complete", "partial"]
_KEPT = ("labels", "graph", "problems")


class FindingCount(Row):
    """One kind of finding about the same agents, with the number of trials that have it."""

    name: str
    agents: tuple[str, ...]
    trials: int
    example: str
    """The finding in the first of these trials, with its figures."""


class TeamRow(Row):
    """One participant in one domain. Shares are 0 to 1; None if unknown."""

    participant: str
    domain: str
    measured: int
    """Trials with coordination to measure."""
    not_measured: dict[str, int]
    """Number of the other trials, by reason."""
    labels: dict[str, int]
    """Number of measured trials by label."""
    findings: tuple[FindingCount, ...]
    agents: int
    """Most members in any trial."""
    calls: int
    """Calls between the members, in all measured trials."""
    coverage: float | None
    """Share of the calls that the assessor observed itself; of those that are known, where its
    sight is partial."""
    contradictions: int
    """Calls whose report differs from the observation; calls that were reported and should have
    been observed are left out of everything else."""
    judged: float | None
    """Mean overall score of the judge, 0 to 1."""
    judged_by: tuple[str, ...]
    judged_by_rules: float | None = None
    """Mean score of the rules in the trials that a model judged; None if it judged none, or the
    rules cannot."""
    flagged: int = 0
    """Doubtful judgements of a model."""
    flags: dict[str, int] = Field(default_factory=dict)
    """Number of judgements by reason for doubt."""
    flag_example: str | None = None
    """The first flag in words."""
    sight: Sight = "partial"
    """`complete` if every call between the members was seen, `partial` if others may have been made."""
    uncertain_labels: tuple[str, ...] = ()
    """The labels that calls which were not seen could take away; empty where sight is complete."""
    consistency: dict[str, float | None]
    """Consistency across trials of the same task: of outcomes, and of the sequences of calls."""


def team_row(
    evaluations: Sequence[Mapping[str, Evaluation]],
    *,
    participant: str,
    domain: str,
    consistency: Mapping[str, float | None],
    failed: int = 0,
    wired: bool = False,
) -> TeamRow | None:
    """Summarise how a participant's team coordinates in a domain; None without graph evaluations.

    Args:
        evaluations: For each trial that did not fail, its evaluations by evaluator.
        failed: Number of failed trials. A team that was cut off does not show how it works.
        participant: The participant.
        domain: The domain.
        consistency: The consistency across trials.
        wired: True if the members can reach each other through the assessor's proxy alone.
    """
    looked_at = [each for each in evaluations if GRAPH in each]
    if not looked_at:
        return None
    why_not = [_why_not(each[GRAPH]) for each in looked_at]
    reasons = [reason for reason in why_not if reason is not None]
    measured = [each for each, reason in zip(looked_at, why_not, strict=True) if reason is None]
    details: list[Mapping[str, Any]] = [each[GRAPH].details for each in measured]
    graphs = [each["graph"] for each in details]
    judgements = [each[JUDGE] for each in measured if JUDGE in each]
    scored = [each for each in judgements if each.status == "scored"]
    by_rules = [each.values[RULES_SCORE] for each in judgements if RULES_SCORE in each.values]
    flagged = [
        flags
        for each in judgements
        if (flags := _FLAGS.validate_python(each.details.get("flags", ())))
    ]
    known = sum(graph["agent_calls"] for graph in graphs)
    reported = known + sum(graph["not_believed"] for graph in graphs)
    observed = sum(graph["observed"] for graph in graphs)
    labels = by_frequency(label for each in details for label in each["labels"])
    sight: Sight = "complete" if wired and observed == reported else "partial"
    return TeamRow(
        participant=participant,
        domain=domain,
        measured=len(measured),
        not_measured=dict(
            sorted(Counter([*reasons, *[CUT_OFF] * (failed if measured else 0)]).items())
        ),
        labels=labels,
        findings=_finding_counts(details),
        agents=max((len(graph["nodes"]) for graph in graphs), default=0),
        calls=known - sum(graph["self_calls"] for graph in graphs),
        coverage=rounded(observed / reported) if reported else None,
        contradictions=sum(graph["contradictions"] for graph in graphs),
        judged=mean([each.values["overall_score"] for each in scored]),
        judged_by=tuple(sorted({each.produced_by for each in scored})),
        judged_by_rules=mean(by_rules),
        flagged=len(flagged),
        flags=by_frequency(kind for flags in flagged for kind in {flag.kind for flag in flags}),
        flag_example=flagged[0][0].sentence if flagged else None,
        sight=sight,
        uncertain_labels=tuple(
            label for label in labels if sight == "partial" and label in RESTS_ON_ALL_CALLS
        ),
        consistency=dict(consistency),
    )


def judge_warnings(evaluations: Iterable[Sequence[Evaluation]]) -> list[str]:
    """Warn if rules judged in place of the configured model.

    Args:
        evaluations: The evaluations of each trial.
    """
    judgements = [each for trial in evaluations for each in trial if each.evaluator == JUDGE]
    causes = by_frequency(
        warning.removeprefix(FELL_BACK).strip()
        for each in judgements
        for warning in each.warnings
        if warning.startswith(FELL_BACK)
    )
    if not causes:
        return []
    count = sum(causes.values())
    asked = count + sum(each.produced_by.startswith("llm:") for each in judgements)
    cause, times = next(iter(causes.items()))
    return [
        f"{count} of {asked} judgements were made by rules instead of the model; {times} because "
        f"{cause}"
    ]


def for_report(evaluation: Evaluation) -> Evaluation:
    """Return an evaluation as a report keeps it: without most details if nothing was measured.

    The details that say why nothing was measured stay. The run's `trials.jsonl` has all of them.
    """
    if evaluation.evaluator != GRAPH or _why_not(evaluation) is None:
        return evaluation
    kept = {part: evaluation.details[part] for part in _KEPT if part in evaluation.details}
    return evaluation.model_copy(update={"details": kept, "skipped": {}})


def _why_not(graph: Evaluation) -> str | None:
    """Say why a trial shows no coordination; None if it does.

    Two agents that call each other are a dyad too, but one that may have loops and ping-pong.
    """
    if graph.status != "scored":
        return graph.reason or graph.status
    details: Mapping[str, Any] = graph.details
    if "dyad" in details["labels"] and ASSESSOR not in details["graph"]["nodes"]:
        return None
    return applicability(details)


def _finding_counts(measured: Iterable[Mapping[str, Any]]) -> tuple[FindingCount, ...]:
    found: dict[tuple[str, tuple[str, ...]], list[str]] = defaultdict(list)
    for details in measured:
        for finding in details["findings"]:
            found[finding["name"], tuple(finding["agents"])].append(finding["statement"])
    ordered = sorted(found.items(), key=lambda item: (-len(item[1]), item[0]))
    return tuple(
        FindingCount(name=name, agents=agents, trials=len(statements), example=statements[0])
        for (name, agents), statements in ordered[:MOST_FINDINGS]
    )
