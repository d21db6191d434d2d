"""Failure modes that can be seen in the calls alone, without a model and without reading a text.

Each detector reads who called whom, when, with the hash of what, and whether it failed. What they
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
from typing import Literal

from evals.graph.interactions import Call, Interactions
from evals.graph.once import once
from evals.graph.repeats import Asked, asked_by
from evals.trace import CallType

Verdict = Literal["present", "absent", "abstain"]

REPEATS = 3
"""Times the same call has to be made to count as repetition."""
MAX_EVIDENCE = 20

_AGENT = CallType.AGENT  # to look it up in its enum takes ten times as long
_NO_ARGUMENTS = "no step says what was asked for"
_NO_NESTED = "no call between agents stands below another step with a start and an end"


@dataclass(frozen=True, kw_only=True)
class Detected:
    """What a detector says: a verdict, a reason, and the steps that show it (`MAX_EVIDENCE`)."""

    verdict: Verdict
    reason: str
    step_ids: tuple[str, ...] = ()


Detector = Callable[[Interactions], Detected]


def step_repetition(team: Interactions) -> Detected:
    """1.3: the same call is made three times although it had been answered.

    Present if there are three own steps with the same caller, callee, kind and arguments of which
    the first two did not fail; a failure between them begins the count anew. Abstains if no own
    step has arguments.
    """
    steps = [step for step in own_steps(team) if step.arguments is not None]
    if not steps:
        return _abstain(_NO_ARGUMENTS)
    asked_in = asked_by(team)
    runs: dict[tuple[str, Asked | None], list[Call]] = {}
    repeated: list[list[Call]] = []
    for step in steps:
        asked = (step.caller, asked_in[step.index])
        run = runs.setdefault(asked, [])
        run.append(step)
        if len(run) == REPEATS:
            repeated.append(run)
        if step.failed:
            runs[asked] = []
    return _verdict(
        [step for run in repeated for step in run],
        f"{len(repeated)} calls were made {REPEATS} times or more although they had been answered",
        f"no call was made {REPEATS} times without a failure between",
    )


def unaware_of_termination(team: Interactions) -> Detected:
    """1.5: an agent goes on with a request that it has answered already.

    Present if an own call between agents begins after the step it stands below has ended without
    failing. Abstains if no own call between agents stands below a step with times.
    """
    pairs = _below(team)
    if not pairs:
        return _abstain(_NO_NESTED)
    late = [child for parent, child in pairs if not parent.failed and _start(child) > _end(parent)]
    return _verdict(
        late,
        f"{len(late)} calls began after the request they serve had been answered",
        "no call began after the request it serves had been answered",
    )


def conversation_reset(team: Interactions) -> Detected:
    """2.1: two agents begin their conversation anew.

    Present if the first two requests of a caller to a callee, which differ and did not fail, are
    made again later, one directly after the other. Own calls between agents count, in order.
    Abstains if none of them has arguments.
    """
    pairs: dict[tuple[str, str], list[Call]] = defaultdict(list)
    for step in own_steps(team):
        if step.kind is _AGENT and step.arguments is not None:
            pairs[step.caller, step.callee].append(step)
    if not pairs:
        return _abstain("no call between agents says what was asked for")
    again = [step for calls in pairs.values() for step in _opened_again(calls)]
    return _verdict(
        sorted(again, key=lambda step: step.index),
        f"{len(again) // 2} times the opening two requests of a conversation were made again",
        "no conversation was opened anew",
    )


def ignored_input(team: Interactions) -> Detected:
    """2.5: an agent goes on without what a colleague told it.

    Present if an own call between agents, below a step that is not the outermost, ended only after
    that step had ended without failing: the answer came too late to be used. Abstains if no own
    call between agents stands below a step with times, and where one failed, the step above it did
    not, and nothing else below that began afterwards: the calls do not show whether the failure
    was taken into account.
    """
    pairs = _below(team)
    if not pairs:
        return _abstain(_NO_NESTED)
    answered = [(parent, child) for parent, child in pairs if not parent.failed]
    late = [
        child
        for parent, child in answered
        if parent.parent is not None and _outlasts(parent, child)
    ]
    if not late and _failures_without_sequel(team, answered):
        return _abstain("a call failed and nothing followed it: the calls do not show more")
    return _verdict(
        late,
        f"{len(late)} times an agent answered before a colleague that it had asked",
        "every agent answered after those that it had asked",
    )


def premature_end(team: Interactions) -> Detected:
    """3.1: the task ends while work on it is still open.

    Present if an own call between agents began before the outermost step above it ended, without
    failing, and ended after it. Abstains if no own call between agents stands below a step with
    times.
    """
    pairs = _below(team)
    if not pairs:
        return _abstain(_NO_NESTED)
    roots = _roots(team)
    open_still = [
        child
        for _, child in pairs
        if _comparable(root := team.steps[roots[child.index]], child)
        and not root.failed
        and _outlasts(root, child)
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
"""By the code of the mode."""


@once
def own_steps(team: Interactions) -> Sequence[Call]:
    """The steps that the agents are responsible for, in order (see the head of this module)."""
    workers = {call.callee for call in team.steps if _enclosing(call)}
    workers.update(end for call in team.agent_calls for end in (call.caller, call.callee))
    user = _conversation_partner(team)
    return [
        step
        for step in team.steps
        if not step.from_outside
        and step.caller != user
        and (step.kind is _AGENT or not workers or step.caller in workers)
    ]


def _enclosing(call: Call) -> bool:
    return call.from_outside and call.kind is _AGENT


def _conversation_partner(team: Interactions) -> str | None:
    """The one who only asks, in a conversation of two; None where there is none."""
    ends = {end for call in team.calls for end in (call.caller, call.callee)}
    if len(ends) != 2 or any(_enclosing(call) for call in team.steps):
        return None
    never_called = ends - {call.callee for call in team.calls}
    return next(iter(never_called), None)


@once
def _below(team: Interactions) -> Sequence[tuple[Call, Call]]:
    """Own calls between agents with the step each stands below, where times can be compared."""
    pairs = []
    for child in own_steps(team):
        if child.kind is _AGENT and child.parent is not None:
            parent = team.steps[child.parent]
            if _comparable(parent, child):
                pairs.append((parent, child))
    return pairs


def _comparable(parent: Call, child: Call) -> bool:
    times = (parent.start_us, parent.end_us, child.start_us, child.end_us)
    return None not in times and parent.provenance is child.provenance


def _start(step: Call) -> int:
    if step.start_us is None:
        msg = f"step {step.step_id!r} has no start"
        raise ValueError(msg)
    return step.start_us


def _end(step: Call) -> int:
    if step.end_us is None:
        msg = f"step {step.step_id!r} has no end"
        raise ValueError(msg)
    return step.end_us


def _outlasts(parent: Call, child: Call) -> bool:
    """Whether a call was still open when the step above it ended."""
    return _start(child) <= _end(parent) < _end(child)


def _failures_without_sequel(team: Interactions, pairs: Iterable[tuple[Call, Call]]) -> bool:
    """Whether a call failed and nothing else below the same step began afterwards."""
    failed = _by_parent((parent, child) for parent, child in pairs if child.failed)
    for parent, children in failed.items():
        latest = _latest_two(team, parent)
        for child in children:
            if not any(at != child.index and start >= _end(child) for start, at in latest):
                return True
    return False


def _by_parent(pairs: Iterable[tuple[Call, Call]]) -> dict[int, list[Call]]:
    found: dict[int, list[Call]] = defaultdict(list)
    for parent, child in pairs:
        found[parent.index].append(child)
    return found


def _latest_two(team: Interactions, parent: int) -> list[tuple[int, int]]:
    """Start and index of the two steps below another that began last: one may be the failed one."""
    starts = ((team.steps[at].start_us, at) for at in team.children[parent])
    return heapq.nlargest(2, ((start, at) for start, at in starts if start is not None))


def _roots(team: Interactions) -> list[int]:
    """For each step, the outermost step above it (itself, where it has no parent)."""
    roots = [-1] * len(team.steps)
    for start in range(len(team.steps)):
        way: list[int] = []
        at = start
        while roots[at] < 0:
            way.append(at)
            parent = team.steps[at].parent
            if parent is None:
                roots[at] = at
            else:
                at = parent
        for step in way:
            roots[step] = roots[at]
    return roots


def _opened_again(calls: Sequence[Call]) -> list[Call]:
    """The calls that repeat the first two of a conversation, in their order."""
    if len(calls) < 4:
        return []
    first, second = calls[0], calls[1]
    if first.arguments == second.arguments or first.failed or second.failed:
        return []
    return [
        step
        for before, after in pairwise(calls[2:])
        if (before.arguments, after.arguments) == (first.arguments, second.arguments)
        for step in (before, after)
    ]


def _abstain(reason: str) -> Detected:
    return Detected(verdict="abstain", reason=reason)


def _verdict(evidence: Iterable[Call], present: str, absent: str) -> Detected:
    step_ids = tuple(dict.fromkeys(step.step_id for step in evidence))
    if not step_ids:
        return Detected(verdict="absent", reason=absent)
    return Detected(verdict="present", reason=present, step_ids=step_ids[:MAX_EVIDENCE])
