"""Metrics of time: the critical path, parallel work, idle members.

All steps with a start and an end count, tools and those opened from outside too. Steps are clamped
into the nearest step above them that has times, for the clocks of participants may differ.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain

from evals.graph.interactions import Interactions
from evals.graph.memoize import memoize
from evals.graph.metric import Computed, Metric, PerAgent, Undefined
from evals.graph.nesting import NOBODY, parents_of, top_down
from evals.trace import CallType

NO_TIMES = "no times: no step has a start and an end"
NO_TIME_PASSES = "no time passes between the first start and the last end"


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """The steps with times, clamped. Lists count through `Interactions.steps`; microseconds."""

    timed: Sequence[int]
    """The steps with times, each behind those above it."""
    starts: Sequence[int]
    """0 for a step without times, as in `ends`."""
    ends: Sequence[int]
    above: Sequence[int]
    """For each timed step, the nearest one above with times; `NOBODY` where there is none."""
    by_start: Sequence[int]
    """The same steps in the order of their start, and then of their index."""
    begin: int
    end: int

    @property
    def makespan_us(self) -> int:
        """Return the time from the first start to the last end."""
        return self.end - self.begin


@memoize
def schedule_of(team: Interactions) -> Schedule | None:
    """Return the schedule of a team; None where no step has times."""
    count, parents = len(team.steps), parents_of(team)
    timed: list[int] = []
    starts, ends, above = [0] * count, [0] * count, [NOBODY] * count
    nearest = [NOBODY] * (count + 1)  # the last one is that of NOBODY
    for index in top_down(team):
        step, upper = team.steps[index], nearest[parents[index]]
        start, end = step.start_us, step.end_us
        if start is None or end is None:
            nearest[index] = upper
            continue
        if upper != NOBODY:
            start, end = _clamped(start, end, starts[upper], ends[upper])
        starts[index], ends[index], above[index], nearest[index] = start, end, upper, index
        timed.append(index)
    if not timed:
        return None
    by_start = sorted(sorted(timed), key=starts.__getitem__)
    return Schedule(
        timed=timed,
        starts=starts,
        ends=ends,
        above=above,
        by_start=by_start,
        begin=starts[by_start[0]],
        end=max(ends[index] for index in timed),
    )


def _clamped(start: int, end: int, first: int, last: int) -> tuple[int, int]:
    """Clamp start and end of a step into those of the step above, `first` and `last`."""
    # By hand: min and max take three times as long.
    start = first if start < first else last if start > last else start
    end = last if end > last else first if end < first else end
    return start, end


def covered_us(schedule: Schedule, owned: Iterable[tuple[int, int]], owners: int) -> list[int]:
    """Sum for each owner the microseconds in which at least one of its steps is going on.

    `owned` has steps with the number of an owner of each, in the order of their start.
    """
    covered, until = [0] * owners, [schedule.begin] * owners
    starts, ends = schedule.starts, schedule.ends
    for index, owner in owned:
        begin, end, done = starts[index], ends[index], until[owner]
        if end > done:
            covered[owner] += end - (begin if begin > done else done)
            until[owner] = end
    return covered


@memoize
def critical_path_us(team: Interactions) -> Counter[str]:
    """Sum the microseconds on the critical path by callee.

    The path goes back from the last end to the step that ended last among those that had ended by
    the point reached, and into it; of several that ended at once it takes the one that began
    first. What no step below covers belongs to the step itself. Time between steps without a step
    above is nobody's.
    """
    schedule = schedule_of(team)
    spent: Counter[str] = Counter()
    if schedule is None:
        return spent
    path = _critical_path(schedule)
    own = [0] * (len(schedule.starts) + 1)  # the last one is that of NOBODY
    for index in path:
        duration = schedule.ends[index] - schedule.starts[index]
        own[index] += duration
        own[schedule.above[index]] -= duration
    names = names_on_path(team)
    for index in path:
        spent[names[index]] += own[index]
    return spent


def _critical_path(schedule: Schedule) -> list[int]:
    """Return the steps on the path, each behind the one above it."""
    ends = schedule.ends
    below: dict[int, list[int]] = defaultdict(list)
    for index in sorted(schedule.by_start, key=ends.__getitem__, reverse=True):
        below[schedule.above[index]].append(index)
    path = _going_back(below[NOBODY], schedule.end, schedule)
    for index in path:  # grows while it is walked through
        if index in below:
            path += _going_back(below[index], ends[index], schedule)
    return path


def _going_back(siblings: Iterable[int], reached: int, schedule: Schedule) -> list[int]:
    """Return the siblings on the path, going back from the point reached.

    The siblings come by their end, the last first, and then by their start.
    """
    starts, ends = schedule.starts, schedule.ends
    chosen = []
    for index in siblings:
        if ends[index] <= reached:
            chosen.append(index)
            reached = starts[index]
    return chosen


@memoize
def names_on_path(team: Interactions) -> list[str]:
    """Return the callee of each step; a tool named like a member gets a suffix."""
    members, tool = set(team.members), CallType.TOOL
    return [
        f"{step.callee} (tool)" if step.kind is tool and step.callee in members else step.callee
        for step in team.steps
    ]


class CriticalPathShare(Metric):
    """Share of the time for which the team waits for a callee."""

    name = "critical_path_share"
    formula = (
        "seconds of the callee on the critical path / makespan, tools under their own name; the "
        "value is the highest. The path goes back from the last end to the latest-ending sibling "
        "that had ended by the point reached, then into it"
    )
    source = "Kelley and Walker 1959, Critical-path planning and scheduling; path by last end"
    range = "0 (never waited for) to 1 (all the time)"
    needs = "steps with a start and an end, between which time passes"

    def compute(self, team: Interactions) -> Computed:
        """Return the shares by callee; members that answered no timed call are skipped."""
        schedule = schedule_of(team)
        if schedule is None:
            return Undefined(NO_TIMES)
        if schedule.makespan_us == 0:
            return Undefined(NO_TIME_PASSES)
        spent = critical_path_us(team)
        names = names_on_path(team)
        callees = {names[index] for index in schedule.timed}
        shares = {callee: spent[callee] / schedule.makespan_us for callee in callees}
        return PerAgent(
            values=shares,
            value=max(shares.values()),
            skipped={m: "answered no call with times" for m in team.members if m not in callees},
        )


class Parallelism(Metric):
    """Mean number of steps at work at the same time."""

    name = "parallelism"
    formula = (
        "sum of self-times / makespan; self-time = duration - union of the children, clamped into "
        "their parents"
    )
    source = (
        "this project; work over elapsed time, as in Graham 1966, Bounds for certain "
        "multiprocessing anomalies"
    )
    range = "0 and more: below 1 there are pauses; serial 1, fan-out to k at once k"
    needs = "steps with a start and an end, between which time passes"

    def compute(self, team: Interactions) -> Computed:
        """Return the mean number of steps at work."""
        schedule = schedule_of(team)
        if schedule is None:
            return Undefined(NO_TIMES)
        if schedule.makespan_us == 0:
            return Undefined(NO_TIME_PASSES)
        return _self_times_us(schedule) / schedule.makespan_us


def _self_times_us(schedule: Schedule) -> int:
    inside = ((index, schedule.above[index]) for index in schedule.by_start)
    # The last of those above is NOBODY, whose time is no step's.
    covered = covered_us(schedule, inside, len(schedule.above) + 1)
    return sum(schedule.ends) - sum(schedule.starts) - sum(covered[:-1])


class IdleRatio(Metric):
    """Share of the time in which members have nothing to do."""

    name = "idle_ratio"
    formula = (
        "by member: 1 - union of the timed steps that it makes or answers / (last end - first "
        "start of the trace); the value is the mean over the members"
    )
    source = "this project"
    range = "0 (everybody is busy all the time) to 1 (excluded); waiting for a call counts as busy"
    needs = "members, and steps with a start and an end, between which time passes"

    def compute(self, team: Interactions) -> Computed:
        """Return the ratios by member; members whose steps all lack times are skipped."""
        schedule = schedule_of(team)
        if schedule is None:
            return Undefined(NO_TIMES)
        if schedule.makespan_us == 0:
            return Undefined(NO_TIME_PASSES)
        if not team.members:
            return Undefined("no members: no call between agents, and no roster")
        return _idle(team, schedule)


def _idle(team: Interactions, schedule: Schedule) -> Computed:
    callers, callees = _taking_part(team)
    names = list(dict.fromkeys(chain(callers, callees)))
    number = {name: at for at, name in enumerate(names)}
    one, other = list(map(number.__getitem__, callers)), list(map(number.__getitem__, callees))
    owned = ((at, agent) for at in schedule.by_start for agent in (one[at], other[at]))
    busy = dict(zip(names, covered_us(schedule, owned, len(names)), strict=True))
    timed = {name for at in schedule.timed for name in (callers[at], callees[at])}
    known = [member for member in team.members if member in timed or member not in busy]
    if not known:
        return Undefined("no times: no step of a member has a start and an end")
    free = {member: schedule.makespan_us - busy.get(member, 0) for member in known}
    mean = Fraction(sum(free.values()), len(known) * schedule.makespan_us)
    return PerAgent(
        values={member: time / schedule.makespan_us for member, time in free.items()},
        value=float(mean),
        skipped={m: "no step with times" for m in team.members if m not in free},
    )


def _taking_part(team: Interactions) -> tuple[list[str], list[str]]:
    """Return caller and callee of each step; for a call of a tool, the caller twice."""
    tool = CallType.TOOL
    callers = [step.caller for step in team.steps]
    callees = [step.caller if step.kind is tool else step.callee for step in team.steps]
    return callers, callees


METRICS: tuple[type[Metric], ...] = (CriticalPathShare, Parallelism, IdleRatio)
