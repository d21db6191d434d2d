"""TeamRow: what the evaluators say of how one participant's team coordinates, over all trials."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, TypeAdapter

from evals.base import Evaluation
from evals.graph.evaluator import applicability
from evals.judge.evaluator import FELL_BACK
from evals.judge.flags import Flag
from evals.trace import ASSESSOR

GRAPH, JUDGE = "graph", "judge"
RULES_SCORE = "rules_score"
_FLAGS: TypeAdapter[list[Flag]] = TypeAdapter(list[Flag])
CUT_OFF = "the trial failed, so what was seen of the team is not the whole"
MOST_FINDINGS = 30
_KEPT = ("labels", "graph", "problems")


class FindingCount(BaseModel):
    """One kind of finding about the same agents, and in how many trials it came up."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    agents: tuple[str, ...]
    trials: int
    example: str
    """What was found in the first of them, with its figures."""


class TeamRow(BaseModel):
    """One participant in one domain. Shares are from 0 to 1; None where nothing is known."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    participant: str
    domain: str
    measured: int
    """Trials in which there was coordination to measure."""
    not_measured: dict[str, int]
    """Why there was none in the others, with how often."""
    labels: dict[str, int]
    """In how many of the measured trials each label holds."""
    findings: tuple[FindingCount, ...]
    agents: int
    """Most members in a trial."""
    calls: int
    """Calls between the members, in all measured trials."""
    coverage: float | None
    """Share of these calls that the assessor saw itself."""
    contradictions: int
    """Calls about which what was seen and what was reported differ; those that were reported and
    should have been seen are left out of everything else."""
    judged: float | None
    """Mean overall score of the judge, 0 to 1."""
    judged_by: tuple[str, ...]
    judged_by_rules: float | None = None
    """Mean score of the rules in the trials that a model judged; None where it judged none of
    them, or the rules cannot."""
    flagged: int = 0
    """Judgements of a model that there is reason to doubt."""
    flags: dict[str, int] = {}
    """The reasons, by how many judgements they hold of."""
    flag_example: str | None = None
    """The first of them in words."""
    consistency: dict[str, float | None]
    """Across trials of the same task: of outcomes, and of the sequences of calls."""


def team_row(
    evaluations: Sequence[Mapping[str, Evaluation]],
    *,
    participant: str,
    domain: str,
    consistency: Mapping[str, float | None],
    failed: int = 0,
) -> TeamRow | None:
    """The row of a participant in a domain; None where no trial's graph was looked at.

    Args:
        evaluations: For each trial that did not fail, its evaluations by evaluator.
        failed: How many trials failed. How a team looks that was cut off says nothing of it.
        participant: The participant.
        domain: The domain.
        consistency: What was computed across the trials.
    """
    graphs = [each[GRAPH] for each in evaluations if GRAPH in each]
    if not graphs:
        return None
    reasons = [reason for graph in graphs if (reason := _why_not(graph)) is not None]
    measured = [graph.details for graph in graphs if _why_not(graph) is None]
    seen = [_part(details, "graph") for details in measured]
    calls = sum(graph["agent_calls"] for graph in seen)
    judgements = [
        each[JUDGE]
        for each in evaluations
        if JUDGE in each and GRAPH in each and _why_not(each[GRAPH]) is None
    ]
    scores = [each.values["overall_score"] for each in judgements if each.status == "scored"]
    by_rules = [each.values[RULES_SCORE] for each in judgements if RULES_SCORE in each.values]
    flagged = [flags for each in judgements if (flags := _flags(each))]
    return TeamRow(
        participant=participant,
        domain=domain,
        measured=len(measured),
        not_measured=dict(
            sorted(Counter([*reasons, *[CUT_OFF] * (failed if measured else 0)]).items())
        ),
        labels=_label_counts(measured),
        findings=_finding_counts(measured),
        agents=max((len(graph["nodes"]) for graph in seen), default=0),
        calls=calls,
        coverage=_coverage(seen),
        contradictions=sum(graph["contradictions"] for graph in seen),
        judged=round(sum(scores) / len(scores), 6) if scores else None,
        judged_by=tuple(sorted({e.produced_by for e in judgements if e.status == "scored"})),
        judged_by_rules=round(sum(by_rules) / len(by_rules), 6) if by_rules else None,
        flagged=len(flagged),
        flags=_counts(flag.kind for flags in flagged for flag in _one_of_each_kind(flags)),
        flag_example=flagged[0][0].sentence if flagged else None,
        consistency=dict(consistency),
    )


def judge_warnings(evaluations: Iterable[Sequence[Evaluation]]) -> list[str]:
    """A warning where rules took the place of a model that was to judge.

    Args:
        evaluations: Those of each trial.
    """
    judgements = [each for trial in evaluations for each in trial if each.evaluator == JUDGE]
    causes = _counts(
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
    """The evaluation as a report keeps it: where there is no coordination, without the details.

    Whole it stands in the run's `trials.jsonl`. What says why there is nothing to measure stays.
    """
    if evaluation.evaluator != GRAPH or _why_not(evaluation) is None:
        return evaluation
    kept = {part: evaluation.details[part] for part in _KEPT if part in evaluation.details}
    return evaluation.model_copy(update={"details": kept, "skipped": {}})


def _why_not(graph: Evaluation) -> str | None:
    """Why a trial shows no coordination; None where it does.

    Two agents that call each other are a dyad too, but one with loops and ping-pong to look at.
    """
    if graph.status != "scored":
        return graph.reason or graph.status
    two_of_a_team = ASSESSOR not in _part(graph.details, "graph")["nodes"]
    reason = applicability(graph.details)
    return None if reason is not None and reason.startswith("dyad") and two_of_a_team else reason


def _part(details: Mapping[str, Any], name: str) -> Any:
    return details[name]


def _coverage(graphs: Sequence[Mapping[str, Any]]) -> float | None:
    told = sum(graph["agent_calls"] + graph["not_believed"] for graph in graphs)
    return round(sum(graph["observed"] for graph in graphs) / told, 6) if told else None


def _flags(judgement: Evaluation) -> list[Flag]:
    return _FLAGS.validate_python(judgement.details.get("flags", ()))


def _one_of_each_kind(flags: Iterable[Flag]) -> list[Flag]:
    return list({flag.kind: flag for flag in flags}.values())


def _label_counts(measured: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    return _counts(label for details in measured for label in _part(details, "labels"))


def _counts(names: Iterable[str]) -> dict[str, int]:
    """How often each comes up, most frequent first."""
    return dict(sorted(Counter(names).items(), key=lambda item: (-item[1], item[0])))


def _finding_counts(measured: Iterable[Mapping[str, Any]]) -> tuple[FindingCount, ...]:
    found: dict[tuple[str, tuple[str, ...]], list[str]] = defaultdict(list)
    for details in measured:
        for finding in _part(details, "findings"):
            found[finding["name"], tuple(finding["agents"])].append(finding["statement"])
    ordered = sorted(found.items(), key=lambda item: (-len(item[1]), item[0]))
    return tuple(
        FindingCount(name=name, agents=agents, trials=len(statements), example=statements[0])
        for (name, agents), statements in ordered[:MOST_FINDINGS]
    )
