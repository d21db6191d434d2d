"""PredictabilityRow: an agent's stated confidence beside what came of its trials."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from adk_agent.results.summary import Row, TrialRow
from adk_agent.results.tables import NONE, Table, number
from evals.predictability import LEAST_STATED, Measure, Predictability, Stated, predictability

PREDICTABILITY_LEGEND = (
    "The agent stated its confidence of passing at the end of each trial. Brier: mean squared "
    "distance from the outcome. calibration error: over ten bins. Less is better for both. AUROC: "
    "how often a trial that passed had the higher confidence, 0.5 by guessing. In brackets: 95 % "
    f"intervals over tasks. Measured from {LEAST_STATED} trials on that stated one."
)
_HEADER = (
    *("agent", "domain", "stated", "mean confidence", "passed"),
    *("Brier", "calibration error", "AUROC"),
)


class PredictabilityRow(Row):
    """The stated confidence of an agent in a domain, over its trials that have a score."""

    participant: str
    domain: str
    scored: int
    stated: int
    """Trials that have a score, and stated a confidence."""
    mean_confidence: float | None
    """Over the trials that stated one, as the next."""
    passed: float | None
    measures: Predictability


def predictability_row(
    participant: str, domain: str, rows: Sequence[TrialRow]
) -> PredictabilityRow:
    """Measure the stated confidence of the plain trials of one agent and domain."""
    scored = [row for row in rows if row.status == "scored"]
    stated = [
        Stated(task=row.task, confidence=row.stated_confidence, passed=row.passed)
        for row in scored
        if row.stated_confidence is not None
    ]
    return PredictabilityRow(
        participant=participant,
        domain=domain,
        scored=len(scored),
        stated=len(stated),
        mean_confidence=_mean([each.confidence for each in stated]),
        passed=_mean([float(each.passed) for each in stated]),
        measures=predictability(stated, scored=len(scored)),
    )


def predictability_table(rows: Sequence[PredictabilityRow]) -> Table:
    """Return a line for each agent and domain."""
    return _HEADER, [
        (
            row.participant,
            row.domain,
            f"{row.stated} of {row.scored}",
            number(row.mean_confidence),
            number(row.passed),
            *(
                _shown(each)
                for each in (
                    row.measures.brier,
                    row.measures.calibration_error,
                    row.measures.auroc,
                )
            ),
        )
        for row in rows
    ]


def predictability_notes(rows: Sequence[PredictabilityRow]) -> list[str]:
    """Say of each row what was not measured, and why."""
    notes = []
    for row in rows:
        named = (("Brier", row.measures.brier), ("AUROC", row.measures.auroc))
        reasons = {each.reason: name for name, each in reversed(named) if each.reason is not None}
        where = f"{row.participant} in {row.domain}"
        for reason, name in reasons.items():
            what = "predictability" if name == "Brier" else name
            notes.append(f"{where}: {what} was not measured: {reason}")
    return notes


def predictability_parts(
    rows: Sequence[PredictabilityRow], *, table: Callable[[Table], str]
) -> list[str]:
    """Return the section on stated confidence as markdown; empty where none was asked for."""
    if not rows:
        return []
    notes = predictability_notes(rows)
    return [
        "## Predictability",
        table(predictability_table(rows)),
        PREDICTABILITY_LEGEND,
        *(["\n".join(f"- {note}" for note in notes)] if notes else []),
    ]


def predictability_lines(rows: Sequence[PredictabilityRow]) -> list[str]:
    """Say in a line for each agent and domain how well it knew what it would come to."""
    lines = []
    for row in rows:
        measures = row.measures
        if measures.brier.value is None:
            continue
        told = (
            f"{row.participant} in {row.domain}: confidence {number(row.mean_confidence)} on "
            f"average, {number(row.passed)} passed; calibration error "
            f"{number(measures.calibration_error.value)}"
        )
        if measures.auroc.value is not None:
            told += f", AUROC {number(measures.auroc.value)}"
        lines.append(told)
    return [*lines, *predictability_notes(rows)]


def _mean(values: Sequence[float]) -> float | None:
    return round(sum(values) / len(values), 6) if values else None


def _shown(measure: Measure) -> str:
    if measure.value is None:
        return NONE
    interval = measure.interval
    ends = "" if interval is None else f" ({interval.low:.2f} to {interval.high:.2f})"
    return number(measure.value) + ends
