"""Judges: language models that decide, and how often people found each of them right."""

from __future__ import annotations

from collections.abc import Sequence

from adk_agent.results.summary import Row
from evals.agreement import Agreement, Share


class Calibration(Row):
    """A judge beside people: the labels that they gave to cases it had decided.

    The reference are the people: a case counts if all who labelled it say the same.
    """

    judge: str
    criterion: str
    prompt: str = ""
    """The version of the judge's prompt; empty where it was not kept."""
    samples: tuple[str, ...]
    """The samples that were labelled, by their ids."""
    readers: int
    """Most people who labelled a case."""
    disputed: int
    """Cases on which they differ, or are not sure; they count for nothing."""
    agreement: Agreement
    between_readers: Agreement | None = None
    """The first two people beside each other; None if there was one."""


class JudgeRow(Row):
    """A language model that decided in a run, by criterion, and its calibration."""

    judge: str
    criterion: str
    prompt: str = ""
    """The version of its prompt; empty where it was not kept."""
    verdicts: int
    calibration: Calibration | None = None
    """None if no person's labels of this prompt were read back before the report was made."""
    other_prompts: tuple[str, ...] = ()
    """Versions of the prompt for which it is calibrated; not used, for another prompt is another judge."""


def judge_lines(rows: Sequence[JudgeRow]) -> list[str]:
    """Say of each judge by which labels it is calibrated, and in one line of those that are not."""
    lines = []
    for judge in dict.fromkeys(row.judge for row in rows):
        mine = [row for row in rows if row.judge == judge]
        lines += [
            f"judge {judge}, {row.criterion}: {calibration_words(row.calibration)}"
            for row in mine
            if row.calibration is not None
        ]
        lines += [
            f"judge {judge}, {row.criterion}: a calibration was made for another version of its prompt "
            f"({', '.join(each or 'not kept' for each in row.other_prompts)}; here "
            f"{row.prompt or 'not kept'}) and is not used"
            for row in mine
            if row.calibration is None and row.other_prompts
        ]
        unknown = [row for row in mine if row.calibration is None]
        if unknown:
            verdicts = sum(row.verdicts for row in unknown)
            names = ", ".join(row.criterion for row in unknown)
            lines.append(
                f"judge {judge} is not calibrated for {names}: nobody labelled any of such verdicts, "
                f"so how often its {verdicts} are right is not known (greenroom judge sample)"
            )
    return lines


def calibration_words(found: Calibration) -> str:
    """Return sensitivity, specificity and kappa of a calibration, with their intervals."""
    agreement = found.agreement
    people = "1 person" if found.readers == 1 else f"{found.readers} people"
    told = (
        f"{people} on {agreement.cases} cases: sensitivity {share_words(agreement.sensitivity)}, "
        f"specificity {share_words(agreement.specificity)}, kappa {share_words(agreement.kappa)}"
    )
    if found.disputed:
        told += f"; {found.disputed} more were disputed"
    if found.between_readers is not None:
        told += f"; kappa between the people {share_words(found.between_readers.kappa)}"
    return told


def share_words(share: Share) -> str:
    """Return a share with its interval; "unknown" where no case tells."""
    if share.value is None or share.interval is None:
        return "unknown"
    return f"{share.value:.2f} ({share.interval.low:.2f} to {share.interval.high:.2f})"
