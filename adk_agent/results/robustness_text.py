"""Robustness as markdown: tables of scores under faults, and of consistency."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from adk_agent.results.robustness import ReliabilityRow, RobustnessRow
from adk_agent.results.tables import Table, number

_HEADER = (
    *("agent", "domain", "faults", "pairs", "plain", "under faults", "difference", "95 %", "p"),
    *("writes repeated", "blind"),
)
_CONSISTENCY = ("outcome", "trajectory", "resources")


ROBUSTNESS_LEGEND = (
    "Each trial was played again with the same task, seed and user under the faults of a family. "
    "Only pairs count in which a fault happened and both trials have a score. No other section "
    "counts these trials. p: sign-flip test over tasks. writes repeated: calls of writing tools "
    "that ran more often than in the plain trial. blind: repeated although the first result was "
    "unknown, with no look in between."
)


def robustness_parts(
    rows: Sequence[RobustnessRow],
    reliability: Sequence[ReliabilityRow],
    *,
    table: Callable[[Table], str],
) -> list[str]:
    """Return the section on injected faults; empty if none were."""
    if not rows:
        return []
    parts = ["## Robustness", table(robustness_table(rows)), ROBUSTNESS_LEGEND]
    notes = robustness_notes(rows)
    parts += ["\n".join(f"- {note}" for note in notes)] if notes else []
    consistency = consistency_table(reliability)
    parts += [table(consistency)] if consistency is not None else []
    return [*parts, consistency_line(reliability)]


def robustness_table(rows: Sequence[RobustnessRow]) -> Table:
    """Return a line for each agent, domain and family."""
    return _HEADER, [_cells(row) for row in rows]


def robustness_notes(rows: Sequence[RobustnessRow]) -> list[str]:
    """Say of each row what was not measured, and which trials do not count."""
    return [note for row in rows if (note := _note(row))]


def consistency_table(reliability: Sequence[ReliabilityRow]) -> Table | None:
    """Return a line for each agent and domain with consistency; None where none was measured."""
    cells = [
        (row.participant, row.domain, *(number(row.consistency[name]) for name in _CONSISTENCY))
        for row in reliability
        if any(value is not None for value in row.consistency.values())
    ]
    return (("agent", "domain", *_CONSISTENCY), cells) if cells else None


def consistency_line(reliability: Sequence[ReliabilityRow]) -> str:
    """Explain the table of consistency, or why there is none."""
    if consistency_table(reliability) is None:
        return "Consistency was not measured: no task has two trials with a score."
    return "Consistency of the plain trials of a task, 0 to 1."


def robustness_lines(rows: Sequence[RobustnessRow]) -> list[str]:
    """Say in a line for each agent, domain and family what the faults did.

    Families that cannot be injected are left out where others can.
    """
    with_faults = {(row.participant, row.domain) for row in rows if row.injectable}
    return [
        f"{row.participant} in {row.domain} under {row.family}: {_found(row)}"
        for row in rows
        if row.injectable or (row.participant, row.domain) not in with_faults
    ]


def _found(row: RobustnessRow) -> str:
    found = row.comparison
    if found is None:
        return f"not measured: {row.reason}"
    told = (
        f"{number(found.second)} against {number(found.first)} plain in {_trials(row.pairs)} "
        f"(p = {found.p_value:.3f})"
    )
    if row.repeated_writes:
        told += (
            f", {row.repeated_writes} {'write' if row.repeated_writes == 1 else 'writes'} repeated"
        )
    told += f", {row.blind_writes} of them blind" if row.blind_writes else ""
    told += f", {_by_heart(row)}" if row.by_heart else ""
    return told + (f", {_refused(row)}" if row.refused_duplicates else "")


def _by_heart(row: RobustnessRow) -> str:
    return f"named ids that it was not told in {_trials(row.by_heart)}"


def _refused(row: RobustnessRow) -> str:
    noun = "duplicate" if row.refused_duplicates == 1 else "duplicates"
    return f"{row.refused_duplicates} {noun} answered with an error"


def _cells(row: RobustnessRow) -> tuple[str, ...]:
    named = (row.participant, row.domain, row.family, str(row.pairs))
    writes = tuple(
        "-" if count is None else str(count) for count in (row.repeated_writes, row.blind_writes)
    )
    found = row.comparison
    if found is None:
        return (*named, "-", "-", "-", "-", "-", *writes)
    return (
        *named,
        number(found.first),
        number(found.second),
        f"{found.difference:+.3f}",
        f"{found.interval.low:.2f} to {found.interval.high:.2f}",
        f"{found.p_value:.3f}",
        *writes,
    )


def _note(row: RobustnessRow) -> str:
    told = []
    if row.reason is not None:
        told.append(f"not measured: {row.reason}")
    if row.untouched:
        told.append(f"{_trials(row.untouched)} met no fault")
    if row.without_score:
        told.append(
            f"{row.without_score} {'pair has' if row.without_score == 1 else 'pairs have'} no two scores"
        )
    if row.by_heart:
        told.append(_by_heart(row))
    if row.refused_duplicates:
        told.append(_refused(row))
    return f"{row.participant} in {row.domain}, {row.family}: {'; '.join(told)}" if told else ""


def _trials(number: int) -> str:
    return f"{number} {'trial' if number == 1 else 'trials'}"
