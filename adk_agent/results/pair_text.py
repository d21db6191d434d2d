"""The differences between the agents of a run as text: a sentence for two agents, else a table."""

from __future__ import annotations

from collections.abc import Sequence

from adk_agent.core.spending import is_budget
from adk_agent.results.pairs import AgentPair
from adk_agent.results.tables import Table
from evals.statistics import Interval

MOST_SHOWN = 10
STOPPED_EARLY = (
    "The run was stopped early by a rule that looks at the score, so the p-values are too small."
)


def pair_table(pairs: Sequence[AgentPair]) -> Table:
    """Make the table of differences, a row for each pair, the better agent first.

    The number of tasks has a column only if the pairs differ in it; `pair_notes` has it otherwise.
    """
    figures = any(pair.headline is not None or pair.domains for pair in pairs)
    header = ("agent", "against", *(["figure"] if figures else []))
    cells = [
        (
            *_in_order(pair),
            *([_figure(pair)] if figures else []),
            *_difference(pair),
            *([] if _same_tasks(pairs) else [str(pair.comparison.tasks)]),
            _VERDICTS[pair.verdict],
        )
        for pair in pairs[:MOST_SHOWN]
    ]
    tasks = [] if _same_tasks(pairs) else ["tasks"]
    return (*header, "difference", "95 %", "p", *tasks, "verdict"), cells


def _same_tasks(pairs: Sequence[AgentPair]) -> bool:
    return len({pair.comparison.tasks for pair in pairs}) == 1


def pair_notes(pairs: Sequence[AgentPair], *, stopped_by: str | None = None) -> list[str]:
    """Say what holds for all pairs.

    Args:
        pairs: As in a report.
        stopped_by: The rule that ended the run early, if one did.
    """
    notes = []
    if len(pairs) > 1:
        tasks = pairs[0].comparison.tasks
        over = "the tasks that both have scores of"
        if _same_tasks(pairs):
            over = "1 task" if tasks == 1 else f"{tasks} tasks"
        notes.append(
            f"Each pair is compared over {over}; p is adjusted for {len(pairs)} comparisons."
        )
    if any(pair.best_case is not None for pair in pairs):
        notes.append(
            "Of two differences, one counts failed trials against the agent, the other in its favour."
        )
    if len(pairs) > MOST_SHOWN:
        notes.append(f"{len(pairs) - MOST_SHOWN} more pairs are in report.json.")
    if pairs and stopped_by is not None and not is_budget(stopped_by):
        notes.append(STOPPED_EARLY)
    return notes


def pair_lines(pairs: Sequence[AgentPair], *, stopped_by: str | None = None) -> list[str]:
    """Say for each pair whether the two agents differ, with the figures.

    Args:
        pairs: As in a report.
        stopped_by: The rule that ended the run early, if one did.
    """
    lines = [_line(pair, pairs=len(pairs)) for pair in pairs[:MOST_SHOWN]]
    if len(pairs) > MOST_SHOWN:
        lines.append(f"{len(pairs) - MOST_SHOWN} more pairs are in report.json")
    if pairs and stopped_by is not None and not is_budget(stopped_by):
        lines.append(STOPPED_EARLY)
    return lines


def _in_order(pair: AgentPair) -> tuple[str, str]:
    """Return the two agents, the better one first."""
    if pair.verdict == "second is better":
        return pair.second_agent, pair.first_agent
    return pair.first_agent, pair.second_agent


def _sign(pair: AgentPair) -> int:
    """Return the sign that a difference takes from the agent that is named first."""
    return 1 if pair.verdict == "second is better" else -1


def _signed(pair: AgentPair, value: float) -> float:
    return _sign(pair) * value + 0.0  # never a negative zero


def _ends(pair: AgentPair, within: Interval) -> tuple[float, float]:
    low, high = sorted((_signed(pair, within.low), _signed(pair, within.high)))
    return low, high


def _figure(pair: AgentPair) -> str:
    where = f" in {' and '.join(pair.domains)}" if pair.domains else ""
    better = "" if pair.higher_is_better else " (lower is better)"
    return f"{pair.headline or 'pass^1'}{where}{better}"


def _difference(pair: AgentPair) -> tuple[str, ...]:
    by = pair.comparison
    low, high = _ends(pair, by.interval)
    otherwise = (
        "" if pair.best_case is None else f" or {_signed(pair, pair.best_case.difference):+.3f}"
    )
    return (
        f"{_signed(pair, by.difference):+.3f}{otherwise}",
        f"{low:+.2f} to {high:+.2f}",
        f"{pair.p_adjusted:.2g}",
    )


_VERDICTS = {
    "first is better": "better",
    "second is better": "better",
    "no difference": "not significant",
    "undecided": "undecided: failed trials decide",
}


def _line(pair: AgentPair, *, pairs: int) -> str:
    by = pair.comparison
    low, high = _ends(pair, by.interval)
    one, other = by.first, by.second
    if pair.verdict == "second is better":
        one, other = other, one
    adjusted = f" adjusted for {pairs} comparisons" if pairs > 1 else ""
    tasks = "1 task" if by.tasks == 1 else f"{by.tasks} tasks"
    tasks += f" of {' and '.join(pair.domains)}" if pair.domains else ""
    otherwise = ""
    if pair.best_case is not None:
        difference = _signed(pair, pair.best_case.difference)
        otherwise = f"; with failed trials counted the other way {difference:+.3f}"
    return (
        f"{_verdict(pair)}: {pair.headline or 'pass^1'} {one:.3f} against {other:.3f}, difference "
        f"{_signed(pair, by.difference):+.3f} (95 % interval {low:+.2f} to {high:+.2f}), "
        f"p = {pair.p_adjusted:.2g}{adjusted}, over {tasks}{otherwise}"
    )


def _verdict(pair: AgentPair) -> str:
    one, other = _in_order(pair)
    if pair.verdict == "undecided":
        return f"{one} and {other}: undecided, failed trials decide"
    if pair.verdict == "no difference":
        return f"{one} and {other}: no significant difference"
    return f"{one} is better than {other}"
