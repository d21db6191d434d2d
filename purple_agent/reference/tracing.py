"""The ResponseTrace of one reply: a step per stage, with tool calls below the reasoner's."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from purple_agent.case import ToolCall, ToolProvider, ToolResult, ToolSpec
from purple_agent.pipeline import StageStep
from purple_agent.teams.tracing import Place, Span, response_trace, tool_step

AGENT = "reference"
REASONER = 7
"""The stage that calls tools."""


@dataclass(frozen=True, kw_only=True)
class ToolStep:
    """A call to a tool. Times are seconds since 1970; `outcome` is `done` or `failed`."""

    tool: str
    start_s: float
    end_s: float
    outcome: str


_noted: ContextVar[list[ToolStep] | None] = ContextVar("noted", default=None)


@contextlib.contextmanager
def collect_tool_steps() -> Iterator[list[ToolStep]]:
    """Collect the calls of all `TimedTools` in the block, in this task and those it starts."""
    steps: list[ToolStep] = []
    token = _noted.set(steps)
    try:
        yield steps
    finally:
        _noted.reset(token)


class TimedTools:
    """A `ToolProvider` whose calls are recorded inside `collect_tool_steps`.

    Args:
        inner: Makes the calls.
        clock: Returns seconds since 1970.
    """

    def __init__(self, inner: ToolProvider, *, clock: Callable[[], float]) -> None:
        self._inner = inner
        self._clock = clock

    async def specs(self) -> Sequence[ToolSpec]:
        """See `ToolProvider`."""
        return await self._inner.specs()

    async def call(self, call: ToolCall) -> ToolResult:
        """See `ToolProvider`."""
        start_s, outcome = self._clock(), "failed"
        try:
            result = await self._inner.call(call)
            outcome = "failed" if result.failed else "done"
            return result
        finally:  # a call cut off by a deadline has been made too
            steps = _noted.get()
            if steps is not None:
                end_s = self._clock()
                steps.append(
                    ToolStep(tool=call.name, start_s=start_s, end_s=end_s, outcome=outcome)
                )

    async def aclose(self) -> None:
        """See `ToolProvider`."""
        await self._inner.aclose()


def trace_of(
    trace_id: str, stages: Sequence[StageStep], calls: Sequence[ToolStep]
) -> dict[str, Any]:
    """Build the trace for a message's metadata, without texts, which may be personal."""
    place = Place(caller="user")
    steps = [
        tool_step(
            place,
            Span(start=stage.start_s, end=stage.end_s),
            number=stage.number,
            tool=f"stage-{stage.number}-{stage.name}",
            member=AGENT,
            found={"outcome": stage.error or stage.outcome},
        )
        for stage in stages
    ]
    parent = next(
        (step["step_id"] for step in steps if f".stage-{REASONER}-" in step["step_id"]), None
    )
    for number, call in enumerate(calls, start=1):
        step = tool_step(
            place,
            Span(start=call.start_s, end=call.end_s),
            number=number,
            tool=call.tool,
            member=AGENT,
            found={"outcome": call.outcome},
        )
        steps.append({**step, "parent_step_id": parent} if parent else step)
    return response_trace(trace_id, steps)
