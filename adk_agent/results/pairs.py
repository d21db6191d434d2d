"""Pairs: whether the agents of one run differ, each two over the tasks that both have scores of."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import isclose
from typing import Any, Literal

from adk_agent.core.plan import EvaluationPlan
from adk_agent.core.spending import is_budget
from adk_agent.results.headlines import HeadlineRow, headline_readings
from adk_agent.results.summary import REFERENCE_AGENTS, Row, TrialRow, rounded
from adk_agent.results.trial_outcomes import outcomes_by_task
from evals.statistics import LEVEL, Comparison, compare

MOST_AGENTS = 10
"""Agents of a run that are compared; beyond, there are too many pairs to find anything."""
MOST_SHOWN = 10
PairVerdict = Literal["first is better", "second is better", "no difference", "undecided"]


class AgentPair(Row):
    """Two agents of one run, by pass^1 or by a headline that replaces it.

    `comparison.difference` is the second's figure minus the first's.

    If trials failed there are two readings: `comparison` counts the first agent's failed trials as
    passed and the second's as not passed; `best_case` does the opposite.
    """

    first_agent: str
    second_agent: str
    domains: tuple[str, ...] = ()
    """The domains of the benchmark that they are compared on, if the run has several benchmarks;
    the domain of the headline."""
    headline: str | None = None
    """None for pass^1."""
    higher_is_better: bool = True
    comparison: Comparison
    best_case: Comparison | None = None
    """None if no trial failed, because the two readings are then the same."""
    p_adjusted: float
    """The larger p-value of the readings, adjusted by Holm's method for the number of comparisons."""

    @property
    def verdict(self) -> PairVerdict:
        """The verdict at 5 % over all pairs of the run; undecided if the readings disagree."""
        best = self.best_case or self.comparison
        if best.is_significant != self.comparison.is_significant:
            return "undecided"
        if self.p_adjusted > 1 - LEVEL:
            return "no difference"
        if (best.difference > 0) != (self.comparison.difference > 0):
            return "undecided"
        is_second = (best.difference > 0) == self.higher_is_better
        return "second is better" if is_second else "first is better"


def agent_pairs(
    trials: Sequence[TrialRow],
    plan: EvaluationPlan,
    benchmarks: Sequence[tuple[str, ...]] = (),
    headlines: Sequence[HeadlineRow] = (),
) -> tuple[AgentPair, ...]:
    """Compare each two agents of a run, in the order of the plan, on each benchmark for itself.

    A headline that is another one's complement, such as attacks that succeeded beside attacks that
    were resisted, says the same and is left out.

    The agents that were added as floor and ceiling are left out, and so are the members of one
    team, which are no rivals.

    Args:
        trials: The trials that ended, of domains that are scored by pass^k.
        plan: The plan of the run.
        benchmarks: The domains of each benchmark; empty for a single one.
        headlines: The rows of headlines that replace pass^k, of all agents.
    """
    agents = [
        each.address
        for each in plan.participants
        if REFERENCE_AGENTS.get(each.role) != each.address
    ]
    if plan.members or not 2 <= len(agents) <= MOST_AGENTS:
        return ()
    several = benchmarks if len(benchmarks) > 1 else [()]

    def played(agent: str, domains: tuple[str, ...]) -> list[TrialRow]:
        return [
            trial
            for trial in trials
            if trial.participant == agent and (not domains or trial.domain in domains)
        ]

    found: list[tuple[dict[str, Any], tuple[Comparison, ...]]] = []
    for one, other in combinations(agents, 2):
        names = {"first_agent": one, "second_agent": other}
        for domains in several:
            readings = _readings(played(one, domains), played(other, domains))
            found.append(({**names, "domains": domains}, readings))
        for first, second in _without_complements(headlines, one, other):
            about = {
                "domains": (first.domain,),
                "headline": first.name,
                "higher_is_better": first.higher_is_better,
            }
            found.append(({**names, **about}, headline_readings(first, second)))
    found = [(about, readings) for about, readings in found if readings]
    adjusted = _holm([max(each.p_value for each in readings) for _, readings in found])
    return tuple(
        AgentPair(
            **about,
            comparison=readings[0],
            best_case=readings[1] if len(readings) > 1 else None,
            p_adjusted=p_value,
        )
        for (about, readings), p_value in zip(found, adjusted, strict=True)
    )


def _without_complements(
    rows: Sequence[HeadlineRow], one: str, other: str
) -> list[tuple[HeadlineRow, HeadlineRow]]:
    """Return each headline of both agents, unless an earlier one is 1 minus it in every task."""
    theirs = {(row.domain, row.name): row for row in rows if row.participant == other}
    found: list[tuple[HeadlineRow, HeadlineRow]] = []
    for row in rows:
        beside = theirs.get((row.domain, row.name))
        if row.participant != one or beside is None:
            continue
        if not any(
            _is_complement(row, first) and _is_complement(beside, second) for first, second in found
        ):
            found.append((row, beside))
    return found


def _is_complement(row: HeadlineRow, other: HeadlineRow) -> bool:
    return (
        row.domain == other.domain
        and row.higher_is_better != other.higher_is_better
        and row.by_task.keys() == other.by_task.keys()
        and all(isclose(value + other.by_task[task], 1.0) for task, value in row.by_task.items())
    )


def _readings(one: Sequence[TrialRow], other: Sequence[TrialRow]) -> tuple[Comparison, ...]:
    """Return the comparison against the second agent, and in its favour if trials failed."""
    worst = compare(outcomes_by_task(one, failed_as=True), outcomes_by_task(other, failed_as=False))
    if worst is None:
        return ()
    if all(trial.status != "failed" for trial in (*one, *other)):
        return (worst,)
    best = compare(outcomes_by_task(one, failed_as=False), outcomes_by_task(other, failed_as=True))
    return (worst,) if best is None else (worst, best)


def _holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values for their number (Holm 1979, A simple sequentially rejective procedure)."""
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[place]))
        adjusted[place] = rounded(highest) or 0.0
    return adjusted


def pair_lines(pairs: Sequence[AgentPair], *, stopped_by: str | None = None) -> list[str]:
    """Say for each pair whether the two agents differ, with the figures.

    Args:
        pairs: As in a report.
        stopped_by: The rule that ended the run early, if one did.
    """
    lines = [_line(pair, pairs=len(pairs)) for pair in pairs[:MOST_SHOWN]]
    if len(pairs) > MOST_SHOWN:
        lines.append(f"... and {len(pairs) - MOST_SHOWN} more pairs, in report.json")
    if pairs and stopped_by is not None and not is_budget(stopped_by):
        lines.append(
            "The run was stopped early by a rule: its score chose the moment, so these tests do not "
            "hold as they say"
        )
    return lines


def _line(pair: AgentPair, *, pairs: int) -> str:
    by = pair.comparison
    one, other, sign = by.first, by.second, 1
    low, high = by.interval.low, by.interval.high
    if pair.verdict != "second is better":  # from the agent that is named first
        sign, low, high = -1, -high, -low
    else:
        one, other = other, one
    adjusted = f" adjusted for {pairs} comparisons" if pairs > 1 else ""
    tasks = "1 task" if by.tasks == 1 else f"{by.tasks} tasks"
    tasks += f" of {' and '.join(pair.domains)}" if pair.domains else ""
    otherwise = ""
    if pair.best_case is not None:
        difference = sign * pair.best_case.difference
        otherwise = f"; with failed trials counted the other way {difference + 0.0:+.3f}"
    return (
        f"{_verdict(pair)}: {pair.headline or 'pass^1'} {one:.3f} against {other:.3f}, difference "
        f"{sign * by.difference + 0.0:+.3f} (95 % interval {low + 0.0:+.2f} to {high + 0.0:+.2f}), "
        f"p = {pair.p_adjusted:.2g}{adjusted}, over {tasks}{otherwise}"
    )


def _verdict(pair: AgentPair) -> str:
    one, other = pair.first_agent, pair.second_agent
    if pair.verdict == "first is better":
        return f"{one} is better than {other}"
    if pair.verdict == "second is better":
        return f"{other} is better than {one}"
    if pair.verdict == "undecided":
        return f"{one} and {other}: undecided, failed trials decide"
    return f"{one} and {other}: no significant difference"
