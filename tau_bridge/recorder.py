"""TraceRecorder: collects the steps of one trial, in the order in which they began."""

from __future__ import annotations

from datetime import datetime

from evals.trace import CallType, InteractionStep, Provenance, Trace
from tau_bridge.clock import Runtime


class OpenStep:
    """A call that has begun. Close it with `end`, whatever happened."""

    def __init__(
        self,
        recorder: TraceRecorder,
        *,
        step_id: str,
        call_type: CallType,
        caller: str,
        callee: str,
        name: str | None,
        parent_step_id: str | None,
        request_text: str | None,
    ) -> None:
        self.step_id = step_id
        self._recorder = recorder
        self._call_type = call_type
        self._caller = caller
        self._callee = callee
        self._name = name
        self._parent_step_id = parent_step_id
        self._request_text = request_text
        self._start_time: datetime = recorder.runtime.clock.now()
        self._start_s = recorder.runtime.clock.monotonic_s()

    def end(
        self,
        *,
        response_text: str | None = None,
        error: str | None = None,
        cost: float | None = None,
        total_tokens: int | None = None,
        attributes: dict[str, str] | None = None,
    ) -> InteractionStep:
        """The finished step, added to the trace. `error` says what went wrong, if anything."""
        clock = self._recorder.runtime.clock
        step = InteractionStep(
            step_id=self.step_id,
            trace_id=self._recorder.trace_id,
            parent_step_id=self._parent_step_id,
            call_type=self._call_type,
            name=self._name,
            caller=self._caller,
            callee=self._callee,
            start_time=self._start_time,
            end_time=clock.now(),
            latency_ms=round(max(clock.monotonic_s() - self._start_s, 0.0) * 1000, 3),
            error=error,
            cost=cost,
            total_tokens=total_tokens,
            provenance=Provenance.OBSERVED,
            request_text=self._request_text,
            response_text=response_text,
            additional_attributes=attributes or {},
        )
        self._recorder.close(self, step)
        return step


class TraceRecorder:
    """Records the calls of one trial. Not shared between trials."""

    def __init__(self, trace_id: str, *, runtime: Runtime) -> None:
        self.trace_id = trace_id
        self.runtime = runtime
        self._steps: dict[str, InteractionStep | None] = {}

    def begin(
        self,
        *,
        call_type: CallType,
        caller: str,
        callee: str,
        name: str | None = None,
        parent_step_id: str | None = None,
        request_text: str | None = None,
    ) -> OpenStep:
        """Start the clock of a call."""
        step = OpenStep(
            self,
            step_id=self.runtime.new_id(),
            call_type=call_type,
            caller=caller,
            callee=callee,
            name=name,
            parent_step_id=parent_step_id,
            request_text=request_text,
        )
        self._steps[step.step_id] = None
        return step

    def close(self, opened: OpenStep, step: InteractionStep) -> None:
        """Take in a finished step. Called by `OpenStep.end`."""
        if self._steps.get(opened.step_id, step) is not None:
            msg = f"step {opened.step_id!r} was not open in trace {self.trace_id!r}"
            raise ValueError(msg)
        self._steps[opened.step_id] = step

    def trace(self) -> Trace:
        """The finished steps so far, in the order in which they began."""
        steps = tuple(step for step in self._steps.values() if step is not None)
        return Trace(trace_id=self.trace_id, steps=steps)
