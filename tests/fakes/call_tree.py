"""CallTree: a trace as calls within calls, which can be changed and laid out in time again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count

from evals.trace import CALLER_KIND, USER, CallType, InteractionStep, Trace

_BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
_GAP_MS = 1
"""Between a call's start and that of the first one below it, and between two of those."""


@dataclass(eq=False, kw_only=True)
class Node:
    """One step of a tree, with those that were made in its course."""

    step: InteractionStep
    """As it was; parent and times are those of the tree only when it is laid out."""
    work_ms: int
    """What the callee takes for itself, after the calls below."""
    above: Node | None = None
    below: list[Node] = field(default_factory=list)
    planted: bool = False
    """Whether it was added or changed."""

    @property
    def is_call(self) -> bool:
        """Whether it is a call between two different agents."""
        step = self.step
        between = step.call_type is CallType.AGENT and not step.from_outside
        return between and step.caller != step.callee

    @property
    def ends(self) -> tuple[str, str]:
        """Caller and callee."""
        return self.step.caller, self.step.callee

    def change(self, **fields: str) -> None:
        """Give fields of the step other values."""
        self.step = self.step.model_copy(update=fields)
        self.planted = True


@dataclass(eq=False, kw_only=True)
class CallTree:
    """The steps of one trace by who made them in the course of what, and the team's members."""

    trace_id: str
    members: set[str] = field(default_factory=set)
    roots: list[Node] = field(default_factory=list)
    _ids: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, trace: Trace, roster: Sequence[str] = ()) -> CallTree:
        """The tree of a trace; a step whose parent does not exist becomes a root.

        Raises:
            ValueError: Two steps have one id, or parents form a circle.
        """
        tree = cls(trace_id=trace.trace_id, members=set(roster))
        nodes = {
            step.step_id: Node(step=step, work_ms=_duration_ms(step))
            for step in sorted(trace.steps, key=lambda step: step.start_time or _BEGIN)
        }
        if len(nodes) < len(trace.steps):
            msg = f"trace {trace.trace_id!r} has two steps with one id; ids must be unique"
            raise ValueError(msg)
        tree._ids.update(nodes)
        for node in nodes.values():
            above = nodes.get(node.step.parent_step_id or "")
            tree._place(node, above)
            if above is not None:
                above.work_ms = max(1, above.work_ms - _duration_ms(node.step) - _GAP_MS)
        if sum(1 for _ in tree.nodes()) < len(nodes):
            msg = f"trace {trace.trace_id!r} has steps whose parents form a circle; cut it first"
            raise ValueError(msg)
        tree.members.update(end for call in tree.calls() for end in call.ends)
        return tree

    def nodes(self) -> Iterator[Node]:
        """All steps in the order in which they begin."""
        left_to_do = list(reversed(self.roots))
        while left_to_do:
            node = left_to_do.pop()
            yield node
            left_to_do.extend(reversed(node.below))

    def calls(self) -> list[Node]:
        """The calls between two different agents, in order."""
        return [node for node in self.nodes() if node.is_call]

    def open(self, callee: str, task: str, *, work_ms: int) -> Node:
        """The user asks `callee`."""
        node = self._made("user", USER, callee, task, work_ms)
        node.step = node.step.model_copy(update={"additional_attributes": {CALLER_KIND: USER}})
        self._place(node, None)
        return node

    def add(
        self,
        caller: str,
        callee: str,
        arguments: str,
        *,
        above: Node,
        work_ms: int,
        error: str | None = None,
    ) -> Node:
        """A call, as the last one below another."""
        node = self._made("call", caller, callee, arguments, work_ms)
        node.step = node.step.model_copy(update={"error": error})
        self._place(node, above)
        return node

    def plant(
        self, caller: str, callee: str, arguments: str | None, *, above: Node, first: bool = False
    ) -> Node:
        """A planted call, as the last or the first one below another."""
        node = self._made("planted", caller, callee, arguments, 20)
        node.planted = True
        self._place(node, above, at=0 if first else None)
        return node

    def plant_copy(self, call: Node) -> Node:
        """The same call once more, right behind it, without those below it."""
        node = self._made("planted", *call.ends, call.step.request_text, call.work_ms)
        node.planted = True
        among = self.roots if call.above is None else call.above.below
        self._place(node, call.above, at=among.index(call) + 1)
        return node

    def relay(self, call: Node, broker: str) -> None:
        """Send a call through a broker, who passes it on."""
        callee, below = call.step.callee, call.below
        call.change(callee=broker)
        call.below = []
        passed_on = self.plant(broker, callee, call.step.request_text, above=call)
        passed_on.step = passed_on.step.model_copy(update={"error": call.step.error})
        passed_on.below = below
        for node in below:
            node.above = passed_on

    def remove(self, call: Node) -> None:
        """Leave out a call that has none below it."""
        among = self.roots if call.above is None else call.above.below
        among.remove(call)

    def trace(self) -> Trace:
        """The steps, laid out in time one after the other."""
        times = self._layout()
        return Trace(
            trace_id=self.trace_id, steps=tuple(_timed(node, *times[node]) for node in times)
        )

    def _made(
        self, kind: str, caller: str, callee: str, arguments: str | None, work_ms: int
    ) -> Node:
        number = next(n for n in count(len(self._ids)) if f"{kind}-{n}" not in self._ids)
        step_id = f"{kind}-{number}"
        self._ids.add(step_id)
        step = InteractionStep(
            step_id=step_id,
            trace_id=self.trace_id,
            call_type=CallType.AGENT,
            caller=caller,
            callee=callee,
            request_text=arguments,
        )
        return Node(step=step, work_ms=work_ms)

    def _place(self, node: Node, above: Node | None, *, at: int | None = None) -> None:
        among = self.roots if above is None else above.below
        node.above = above
        among.insert(len(among) if at is None else at, node)
        if node.is_call:
            self.members.update(node.ends)

    def _layout(self) -> dict[Node, tuple[int, int]]:
        """Start and end of each step in ms, in order: what is below, then the callee's own work."""
        whole: dict[Node, int] = {}
        for node in reversed(list(self.nodes())):
            whole[node] = node.work_ms + _GAP_MS + sum(whole[n] + _GAP_MS for n in node.below)
        starts: dict[Node, int] = {}
        _in_a_row(self.roots, 0, whole, starts)
        for node in self.nodes():
            _in_a_row(node.below, starts[node] + _GAP_MS, whole, starts)
        return {node: (starts[node], starts[node] + whole[node]) for node in self.nodes()}


def _in_a_row(
    nodes: Sequence[Node], at: int, whole: dict[Node, int], starts: dict[Node, int]
) -> None:
    for node in nodes:
        starts[node] = at
        at += whole[node] + _GAP_MS


def _timed(node: Node, start: int, end: int) -> InteractionStep:
    return node.step.model_copy(
        update={
            "parent_step_id": None if node.above is None else node.above.step.step_id,
            "start_time": _BEGIN + timedelta(milliseconds=start),
            "end_time": _BEGIN + timedelta(milliseconds=end),
            "latency_ms": float(end - start),
        }
    )


def _duration_ms(step: InteractionStep) -> int:
    if step.start_time is None or step.end_time is None:
        return 1
    return max(1, round((step.end_time - step.start_time).total_seconds() * 1000))
