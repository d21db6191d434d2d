"""merge: makes one trace of what the assessor observed and what participants reported. Pure.

A reported call is the same as an observed one if caller, callee and request are the same; of
several, the first is the same as the first in order of time. The observed one stays then. Calls of
one caller to one callee that are left on both sides are paired too, though what was asked differs:
a caller writes down its requests in a form of its own more often than it hides one call and makes
up another. The pair says that it contradicts itself.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field

from evals.trace import (
    ASSESSOR,
    CALLER_KIND,
    CONTRADICTION,
    NOT_BELIEVED,
    USER,
    CallType,
    InteractionStep,
    Provenance,
    Trace,
)
from tau_bridge.a2a.traceability import ReportedTrace, in_order, starts
from tau_bridge.recorder import shorten

REPORTED_AS = "reported_as"
"""Attribute of an observed step: the id under which it was reported."""
PARENT_GUESSED = "parent_guessed"
"""Attribute of an observed step whose caller had several calls open: which one is a guess."""

_SHOWN_CHARS = 120


@dataclass(frozen=True, kw_only=True)
class Merged:
    """One trace of both kinds, and what was wrong with the reports, in words with counts."""

    trace: Trace
    problems: tuple[str, ...]


def merge(
    observed: Trace,
    reported: Sequence[ReportedTrace],
    *,
    assessor: str = ASSESSOR,
    team_known: bool = False,
) -> Merged:
    """Merge what the reports add into the observed trace.

    Contradictions are kept in the attribute `contradiction` of the step concerned. Where calls
    between the agents are known, or the team itself, the assessor's own calls get `caller_kind`
    user: they enclose what the agents did.

    Args:
        observed: What the assessor saw. Its steps stay, under their ids.
        reported: In the order in which the reports arrived.
        assessor: Who the assessor is in its own steps.
        team_known: Whether the agents' roster is known, so that there is a team
            even if its members made no calls.
    """
    merging = _Merging(observed)
    for number, report in enumerate(reported, start=1):
        merging.take(report, number)
    merging.pair()
    merging.link()
    merging.note_missing(assessor)
    steps = in_order(merging.steps())
    if team_known or any(_is_inner(step) and not _is_ours(step, assessor) for step in steps):
        steps = [_opened_by_user(step) if _is_ours(step, assessor) else step for step in steps]
    trace = Trace(trace_id=observed.trace_id, steps=tuple(steps))
    return Merged(trace=trace, problems=tuple(merging.problems()))


@dataclass(kw_only=True)
class _Node:
    """A step on its way into the merged trace."""

    step: InteractionStep
    inside: str | None = None
    """For a reported step: the observed step that its report came back from."""
    parent: _Node | None = None
    """For a reported step: its parent within the reports."""
    twin: _Node | None = None
    """The other one of a pair."""
    merged_id: str = ""
    merged_parent: str | None = None
    contradictions: list[str] = field(default_factory=list)
    believed: bool = True


class _Merging:
    def __init__(self, observed: Trace) -> None:
        self._trace_id = observed.trace_id
        self._seen = [_Node(step=step, merged_id=step.step_id) for step in in_order(observed.steps)]
        self._by_id: dict[str, _Node] = {}
        for node in self._seen:
            node.merged_parent = node.step.parent_step_id
            self._by_id.setdefault(node.merged_id, node)
        self._reported: list[_Node] = []
        self._known: dict[Hashable, _Node] = {}
        self._used = set(self._by_id)
        self._problems: list[str] = []
        self._counts: Counter[str] = Counter()

    def take(self, report: ReportedTrace, number: int) -> None:
        """Take in the steps of one report; steps of an earlier report are taken once."""
        self._problems.extend(report.problems)
        nodes: dict[str, _Node] = {}
        new: list[_Node] = []
        for step in report.steps:
            node = self._known.get(_identity(step))
            if node is None:
                node = _Node(step=step, inside=report.inside)
                self._known[_identity(step)] = node
                new.append(node)
            nodes[step.step_id] = node
        for node in new:
            node.parent = nodes.get(node.step.parent_step_id or "")
            node.merged_id = self._free_id(node.step.step_id, number)
        self._reported.extend(new)

    def pair(self) -> None:
        """Find out which observed step each reported call is."""
        self._reported = _sort_nodes(self._reported)
        self._pair_own_work()
        self._pair_by(lambda s: (s.caller, s.callee, s.request_text), both_ask=True)
        self._pair_by(lambda s: (s.caller, s.step_id, s.request_text), both_ask=True)
        self._pair_by(lambda s: (s.caller, s.callee))

    def link(self) -> None:
        """Settle the parents, and what an observed step takes over from its twin."""
        for node in self._reported:
            if node.twin is None:
                node.merged_parent = self._reported_parent(node)
        adopted = [node for node in self._seen if node.twin is not None and self._adopt(node)]
        circle = self._in_circles()
        for node in adopted:
            if node.merged_id in circle:
                node.merged_parent = node.step.parent_step_id
                self._contradict(node, "the reported parents form a circle")

    def note_missing(self, assessor: str) -> None:
        """Mark calls that only one side knows, where the other should have known them too.

        Where any call between the agents was seen, all of them pass the observer. A call that was
        reported and not seen is then no more than a claim, whichever agent it names as its caller,
        and is not believed: a report could otherwise make a team look better than it was.
        """
        reporting = {node.step.caller for node in self._reported if _is_inner(node.step)}
        watched = any(
            _is_inner(node.step) and not _is_ours(node.step, assessor) for node in self._seen
        )
        for node in self._seen:
            caller = node.step.caller
            if _is_inner(node.step) and node.twin is None and caller in reporting - {assessor}:
                self._contradict(node, "not reported")
        for node in self._reported:
            if watched and node.twin is None and _is_inner(node.step):
                self._contradict(node, "not observed")
                node.believed = False

    def steps(self) -> Iterator[InteractionStep]:
        """Yield the merged steps, the observed ones first."""
        for node in self._seen:
            yield self._observed_step(node)
        for node in self._reported:
            if node.twin is None:
                yield self._reported_step(node)

    def problems(self) -> list[str]:
        """Return what the reports' readers found, then the contradictions by kind."""
        contradictions = [
            f"contradiction: {n} x {what}" for what, n in sorted(self._counts.items())
        ]
        return [*self._problems, *contradictions]

    def _pair_own_work(self) -> None:
        """Pair calls at the start of a report with the observed steps that they answer."""
        for node in self._reported:
            step, seen = node.step, self._by_id.get(node.inside or "")
            if seen is None or seen.twin is not None or node.parent is not None:
                continue
            same_text = step.request_text in (None, seen.step.request_text)
            is_work = _is_agent(step) and step.from_outside and step.callee == seen.step.callee
            if is_work and same_text:
                node.twin, seen.twin = seen, node

    def _pair_by(
        self, key: Callable[[InteractionStep], Hashable], *, both_ask: bool = False
    ) -> None:
        """Pair what is left on both sides and has the same key, in order of time."""
        waiting: dict[Hashable, list[_Node]] = defaultdict(list)
        for node in reversed(self._seen):
            if _is_single(node, both_ask):
                waiting[key(node.step)].append(node)
        for node in self._reported:
            if _is_single(node, both_ask) and (same := waiting.get(key(node.step))):
                node.twin = same.pop()
                node.twin.twin = node
                self._compare(node.twin.step, node)

    def _compare(self, seen: InteractionStep, node: _Node) -> None:
        claim = node.step
        twin = node.twin
        if twin is None:
            return
        if claim.callee != seen.callee:
            self._contradict(twin, "reported with another callee", claim.callee)
        if None not in (claim.request_text, seen.request_text) and (
            claim.request_text != seen.request_text
        ):
            self._contradict(twin, "reported with another request", claim.request_text)
        if seen.error is not None and claim.error is None:
            self._contradict(twin, "failed, reported as a success")
        if seen.error is None and claim.error is not None:
            self._contradict(twin, "succeeded, reported as failed", claim.error)

    def _contradict(self, node: _Node, what: str, detail: str | None = None) -> None:
        self._counts[what] += 1
        shown = "" if detail is None else f": {shorten(detail, _SHOWN_CHARS)!r}"
        node.contradictions.append(what + shown)

    def _reported_parent(self, node: _Node) -> str | None:
        """Return a reported step's merged parent; at the root, the step that the report came from.

        An unknown parent stays as it is, unless it would then be that of another step.
        """
        if node.parent is not None:
            return (node.parent.twin or node.parent).merged_id
        if node.inside is not None and node.inside in self._by_id:
            return node.inside
        unknown = node.step.parent_step_id
        return None if unknown in self._used else unknown

    def _adopt(self, node: _Node) -> bool:
        """Give an observed step the parent that its twin reported, if that is to be believed.

        It is believed where the observer did not know or had to guess, or where the reported parent
        lies between the step and its observed parent. Otherwise it contradicts what was seen.
        """
        reported = node.twin
        if reported is None or (reported.parent is None and not _may_guess(node.step)):
            return False
        parent = self._reported_parent(reported)
        if parent is None or parent in (node.merged_id, node.merged_parent):
            return False
        if not _may_guess(node.step) and self._observed_above(reported) != node.step.parent_step_id:
            self._contradict(node, "reported below another step")
            return False
        node.merged_parent = parent
        return True

    def _observed_above(self, reported: _Node) -> str | None:
        """Return the nearest observed step above a reported one."""
        above = reported.parent
        for _ in self._reported:
            if above is None or above.twin is not None:
                break
            above = above.parent
        return reported.inside if above is None or above.twin is None else above.twin.merged_id

    def _in_circles(self) -> set[str]:
        """Return the ids of steps whose merged parents lead back to themselves."""
        nodes = [*self._seen, *(node for node in self._reported if node.twin is None)]
        parents = {node.merged_id: node.merged_parent for node in nodes}
        done: set[str] = set()
        found: set[str] = set()
        for start in parents:
            way: dict[str, None] = {}
            at: str | None = start
            while at is not None and at in parents and at not in done and at not in way:
                way[at] = None
                at = parents[at]
            if at is not None and at in way:
                line = list(way)
                found.update(line[line.index(at) :])
            done.update(way)
        return found

    def _free_id(self, wanted: str, number: int) -> str:
        made = wanted
        while made in self._used:
            made = f"r{number}:{made}"
        self._used.add(made)
        return made

    def _observed_step(self, node: _Node) -> InteractionStep:
        step, reported = node.step, node.twin
        changes: dict[str, object] = {"parent_step_id": node.merged_parent}
        attributes = dict(step.additional_attributes)
        if reported is not None:
            attributes[REPORTED_AS] = reported.step.step_id
            changes["cost"] = step.cost if step.cost is not None else reported.step.cost
            tokens = step.total_tokens
            changes["total_tokens"] = tokens if tokens is not None else reported.step.total_tokens
        changes["additional_attributes"] = _with_contradictions(attributes, node)
        return step.model_copy(update=changes)

    def _reported_step(self, node: _Node) -> InteractionStep:
        attributes = dict(node.step.additional_attributes)
        attributes |= {} if node.believed else {NOT_BELIEVED: "true"}
        changes = {
            "step_id": node.merged_id,
            "trace_id": self._trace_id,
            "parent_step_id": node.merged_parent,
            "additional_attributes": _with_contradictions(attributes, node),
        }
        return node.step.model_copy(update=changes)


def _with_contradictions(attributes: dict[str, str], node: _Node) -> dict[str, str]:
    if node.contradictions:
        attributes[CONTRADICTION] = "; ".join(node.contradictions)
    return attributes


def _identity(step: InteractionStep) -> Hashable:
    """Return a key that is equal for the same step in two reports, whose ids may differ."""
    ends = (step.step_id, step.call_type, step.caller, step.callee, step.request_text)
    return (*ends, step.trace_id if step.start_time is None else step.start_time)


def _sort_nodes(nodes: list[_Node]) -> list[_Node]:
    keyed = zip(starts(node.step for node in nodes), nodes, strict=True)
    return [node for _, node in sorted(keyed, key=lambda item: item[0])]


def _is_agent(step: InteractionStep) -> bool:
    return step.call_type is CallType.AGENT


def _is_inner(step: InteractionStep) -> bool:
    return _is_agent(step) and not step.from_outside


def _is_single(node: _Node, asks: bool) -> bool:
    is_open = _is_inner(node.step) and node.twin is None
    return is_open and not (asks and node.step.request_text is None)


def _may_guess(step: InteractionStep) -> bool:
    return step.parent_step_id is None or PARENT_GUESSED in step.additional_attributes


def _is_ours(step: InteractionStep, assessor: str) -> bool:
    """Tell whether the assessor made the call: what it observed, not what a report says."""
    observed = step.provenance is Provenance.OBSERVED
    return observed and _is_inner(step) and step.caller == assessor


def _opened_by_user(step: InteractionStep) -> InteractionStep:
    attributes = {**step.additional_attributes, CALLER_KIND: USER}
    return step.model_copy(update={"additional_attributes": attributes})
