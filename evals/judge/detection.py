"""Failure modes that can be seen in the calls alone, without a model.

Each detector reads who called whom, when, with what arguments, and whether it failed; arguments are
compared, and not understood. What they
call the *own steps* of the agents are

- calls between agents that were not opened from outside, and
- calls to tools by an agent that takes part in such a call or was called from outside (in a trace
  without any agent call: all calls to tools).

A trace of two agents without an enclosing step is a conversation that the assessor led: the
messages of the one whom nobody calls are the user's turns, and no own steps.

Clocks: two steps are compared only if both were seen by the same side (both observed, or both
reported), since the clocks of two machines differ.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple

from evals.graph.interactions import Call, Interactions
from evals.graph.memoize import memoize
from evals.graph.nesting import NOBODY, parents_of, top_down
from evals.graph.repeats import Asked, asked_by
from evals.trace import CallType, Provenance

Verdict = Literal["present", "absent", "abstain"]

REPEATS = 3
"""Times the same call has to be made to count as repetition."""
MAX_EVIDENCE = 20

_AGENT = CallType.AGENT  # to look it up in its enum takes ten times as long
_OBSERVED = Provenance.OBSERVED
_NO_ARGUMENTS = "no step says what was asked for"
_NO_NESTED = "no call between agents stands below another step with a start and an end"


@dataclass(frozen=True, kw_only=True)
class Detected:
    """The result of a detector: a verdict, a reason, and the steps that show it (`MAX_EVIDENCE`)."""

    verdict: Verdict
    reason: str
    step_ids: tuple[str, ...] = ()


Detector = Callable[[Interactions], Detected]


def step_repetition(team: Interactions) -> Detected:
    """Detect 1.3: the same call is made three times although it had been answered.

    Present if there are three own steps with the same caller, callee, kind and arguments of which
    the first two did not fail; a failure between them restarts the count. Abstains if no own
    step has arguments.
    """
    asked = asked_by(team)
    runs: dict[tuple[str, Asked], list[Call]] = defaultdict(list)
    repeated: list[list[Call]] = []
    for step in own_steps(team):
        what = asked[step.index]
        if what is not None:
            run = runs[step.caller, what]
            run.append(step)
            if len(run) == REPEATS:
                repeated.append(run)
            if step.failed:
                runs[step.caller, what] = []
    if not runs:
        return _abstain(_NO_ARGUMENTS)
    return _verdict(
        [step for run in repeated for step in run],
        f"{len(repeated)} calls were made {REPEATS} times or more although they had been answered",
        f"no call was made {REPEATS} times without a failure between",
    )


def unaware_of_termination(team: Interactions) -> Detected:
    """Detect 1.5: an agent goes on with a request that it has answered already.

    Present if an own call between agents begins after the step it stands below has ended without
    failing. Abstains if no own call between agents stands below a step with times.
    """
    if not _nested(team):
        return _abstain(_NO_NESTED)
    late = [each.call for each in _answered(team) if each.start_us > each.above_end_us]
    return _verdict(
        late,
        f"{len(late)} calls began after the request they serve had been answered",
        "no call began after the request it serves had been answered",
    )


def conversation_reset(team: Interactions) -> Detected:
    """Detect 2.1: two agents start their conversation over.

    Present if the first two requests of a caller to a callee, which differ and did not fail, are
    made again later, one directly after the other. Own calls between agents count, in order.
    Abstains if none of them has arguments.
    """
    pairs: dict[tuple[str, str], list[Call]] = defaultdict(list)
    for step in _own_calls(team):
        if step.arguments is not None:
            pairs[step.caller, step.callee].append(step)
    if not pairs:
        return _abstain("no call between agents says what was asked for")
    asked = asked_by(team)
    again = [step for calls in pairs.values() for step in _opened_again(calls, asked)]
    return _verdict(
        sorted(again, key=lambda step: step.index),
        f"{len(again) // 2} times the opening two requests of a conversation were made again",
        "no conversation was started over",
    )


def ignored_input(team: Interactions) -> Detected:
    """Detect 2.5: an agent goes on without waiting for a colleague's answer.

    Present if an own call between agents, below a step that is not the outermost, ended only after
    that step had ended without failing: the answer came too late to be used. Abstains if no own
    call between agents stands below a step with times, and where one failed, the step above it did
    not, and nothing else below that began afterwards: the calls do not show whether the failure
    was taken into account.
    """
    if not _nested(team):
        return _abstain(_NO_NESTED)
    asked = [each for each in _answered(team) if each.above.parent is not None]
    late = [each.call for each in asked if each.outlasts]
    if not late and _has_failure_without_sequel(team):
        return _abstain("a call failed and nothing followed it: the calls do not show more")
    return _verdict(
        late,
        f"{len(late)} times an agent answered before a colleague that it had asked",
        "every agent answered after those that it had asked",
    )


def premature_end(team: Interactions) -> Detected:
    """Detect 3.1: the task ends while work on it is still open.

    Present if an own call between agents began before the outermost step above it ended, without
    failing, and ended after it. Abstains if no own call between agents stands below a step with
    times.
    """
    if not _nested(team):
        return _abstain(_NO_NESTED)
    roots = _roots(team)
    within = [_nested_in(team.steps[roots[each.call.index]], each.call) for each in _nested(team)]
    open_still = [
        each.call for each in within if each is not None and each.outlasts and not each.above.failed
    ]
    return _verdict(
        open_still,
        f"{len(open_still)} calls were still open when the task was answered",
        "no call was open when the task was answered",
    )


DETECTORS: Mapping[str, Detector] = {
    "1.3": step_repetition,
    "1.5": unaware_of_termination,
    "2.1": conversation_reset,
    "2.5": ignored_input,
    "3.1": premature_end,
}
"""The detectors by the code of their mode."""


@memoize
def own_steps(team: Interactions) -> Sequence[Call]:
    """List the steps that the agents are responsible for, in order (see the module's head)."""
    workers = {call.callee for call in (*_enclosing(team), *team.agent_calls)}
    workers.update([call.caller for call in team.agent_calls])
    user = _conversation_partner(team)
    return [
        step
        for step in team.steps
        if not step.from_outside
        and step.caller != user
        and (step.kind is _AGENT or not workers or step.caller in workers)
    ]


@memoize
def _own_calls(team: Interactions) -> Sequence[Call]:
    """List the own steps that go to agents."""
    return [step for step in own_steps(team) if step.kind is _AGENT]


@memoize
def _enclosing(team: Interactions) -> Sequence[Call]:
    return [call for call in team.steps if call.from_outside and call.kind is _AGENT]


def _conversation_partner(team: Interactions) -> str | None:
    """Return the one who only asks, in a conversation of two; None where there is none."""
    ends = {end for pair in team.weights for end in pair}
    if len(ends) != 2 or _enclosing(team):
        return None
    never_called = ends - {callee for _, callee in team.weights}
    return next(iter(never_called), None)


class _Nested(NamedTuple):
    """A call and a step above it whose times can be compared."""

    above: Call
    call: Call
    above_end_us: int
    start_us: int
    end_us: int

    @property
    def outlasts(self) -> bool:
        """Tell whether the call was still open when the step above it ended."""
        return self.start_us <= self.above_end_us < self.end_us


def _nested_in(above: Call, call: Call) -> _Nested | None:
    if (above.provenance is _OBSERVED) != (call.provenance is _OBSERVED):
        return None
    if None in (above.start_us, above.end_us, call.start_us, call.end_us):
        return None
    return _Nested(above, call, above.end_us or 0, call.start_us or 0, call.end_us or 0)


@memoize
def _nested(team: Interactions) -> Sequence[_Nested]:
    """List the own calls between agents with the step that each stands directly below."""
    below = [
        _nested_in(team.steps[call.parent], call)
        for call in _own_calls(team)
        if call.parent is not None
    ]
    return [each for each in below if each is not None]


def _answered(team: Interactions) -> list[_Nested]:
    """List the same without those below a step that failed."""
    return [each for each in _nested(team) if not each.above.failed]


def _has_failure_without_sequel(team: Interactions) -> bool:
    """Check whether a call failed and nothing else below the same step began afterwards."""
    latest: dict[int, list[tuple[int, int]]] = {}
    for above, call, _, _, end_us in _answered(team):
        if not call.failed:
            continue
        if above.index not in latest:
            latest[above.index] = _latest_two(team, above.index)
        if not any(at != call.index and start >= end_us for start, at in latest[above.index]):
            return True
    return False


def _latest_two(team: Interactions, parent: int) -> list[tuple[int, int]]:
    """Return start and index of the two steps below another that began last.

    Two, because one may be the failed call itself.
    """
    starts = ((team.steps[at].start_us, at) for at in team.children[parent])
    return heapq.nlargest(2, ((start, at) for start, at in starts if start is not None))


def _roots(team: Interactions) -> Sequence[int]:
    """Return the outermost step above each step (itself, where it has no parent)."""
    parents = parents_of(team)
    roots = list(range(len(parents)))
    for index in top_down(team):
        if parents[index] != NOBODY:
            roots[index] = roots[parents[index]]
    return roots


def _opened_again(calls: Sequence[Call], asked: Sequence[Asked | None]) -> list[Call]:
    """List the calls that repeat the first two of a conversation, in their order."""
    if len(calls) < 4:
        return []
    opening = asked[calls[0].index], asked[calls[1].index]
    if opening[0] == opening[1] or calls[0].failed or calls[1].failed:
        return []
    return [
        step
        for before, after in pairwise(calls[2:])
        if (asked[before.index], asked[after.index]) == opening
        for step in (before, after)
    ]


def _abstain(reason: str) -> Detected:
    return Detected(verdict="abstain", reason=reason)


def _verdict(evidence: Iterable[Call], present: str, absent: str) -> Detected:
    step_ids = tuple(dict.fromkeys(step.step_id for step in evidence))
    if not step_ids:
        return Detected(verdict="absent", reason=absent)
    return Detected(verdict="present", reason=present, step_ids=step_ids[:MAX_EVIDENCE])
