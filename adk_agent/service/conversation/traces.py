"""trace_metadata: what the assessor did in a run, as a ResponseTrace in an artifact's metadata."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from pathlib import Path

from google.protobuf.struct_pb2 import Struct

from adk_agent.core.errors import StorageError
from adk_agent.core.files import storage
from adk_agent.runs.store import TRIALS, load_trials
from evals.trace import InteractionStep, Trace
from tau_bridge.a2a.extensions import TRACEABILITY_KEY
from tau_bridge.a2a.traceability import write_response_trace

logger = logging.getLogger(__name__)

MAX_STEPS = 1000
"""The limit for all trials of a run together."""
MAX_FILE_BYTES = 64 * 1024 * 1024
"""The limit of the file of trials; a larger one is not read for the sake of a trace."""
LEFT_OUT_KEY = f"{TRACEABILITY_KEY}/left-out"
"""Key of the sentence that stands in the trace's stead."""


def trace_metadata(results_dir: Path, run_id: str) -> Struct:
    """Return the steps of all finished trials as one trace, or why it is left out in a sentence.

    The steps come without the texts that were exchanged, which are many times as large. The trace
    has the run's id, and each trial's steps an id that begins with the id of the trial's own trace.
    """
    try:
        with storage(results_dir / run_id):
            is_large = (results_dir / run_id / TRIALS).stat().st_size > MAX_FILE_BYTES
        traces = [] if is_large else [each.trace for each in load_trials(results_dir, run_id)]
    except StorageError as error:
        logger.warning("run %s has no trace: %s", run_id, error)
        return _left_out(run_id, "cannot be read")
    steps = sum(len(trace.steps) for trace in traces)
    if is_large or steps > MAX_STEPS:
        return _left_out(run_id, f"has more than {MAX_STEPS} steps, or is very large")
    return _metadata(run_id, traces)


def _metadata(run_id: str, traces: Iterable[Trace]) -> Struct:
    steps = tuple(_lean(step, run_id) for trace in traces for step in trace.steps)
    found = Struct()
    found.update({TRACEABILITY_KEY: write_response_trace(Trace(trace_id=run_id, steps=steps))})
    return found


def _left_out(run_id: str, why: str) -> Struct:
    found = Struct()
    found.update(
        {
            LEFT_OUT_KEY: f"The trace of run {run_id} is left out, for it {why}. Where the service"
            f" keeps its runs, {run_id}/{TRIALS} has the steps of each trial."
        }
    )
    return found


def _lean(step: InteractionStep, run_id: str) -> InteractionStep:
    """Return the step in the run's trace, without its texts."""
    parent = step.parent_step_id
    return step.model_copy(
        update={
            "trace_id": run_id,
            "step_id": _unique(step.trace_id, step.step_id),
            "parent_step_id": None if parent is None else _unique(step.trace_id, parent),
            "request_text": None,
            "response_text": None,
        }
    )


def _unique(trace_id: str, step_id: str) -> str:
    """Return an id that no step of another trial has; participants choose some ids."""
    return step_id if step_id.startswith(f"{trace_id}.") else f"{trace_id}.{step_id}"
