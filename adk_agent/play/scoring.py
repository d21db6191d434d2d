"""score: what one trace from a file is worth, without playing anything."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evals.base import Evaluation, EvaluationContext
from evals.driver import EvaluatorRegistry
from tau_bridge.trace_file import TraceEntry
from tau_bridge.trace_formats.recognising import FORMATS

GRAPH_PARTS = ("metrics", "labels", "findings", "graph", "thresholds", "percentiles", "problems")
"""The parts of the graph evaluator's details that a scored trace shows at its top."""
_BESIDE = (
    "id",
    "trace_id",
    "format",
    "status",
    "reason",
    "error",
    "reading_problems",
    "warnings",
    "versions",
)
RESERVED = frozenset((*GRAPH_PARTS, *_BESIDE))
"""The other keys of a scored trace, which no evaluator may have as its name."""


async def score_entry(
    entry: TraceEntry,
    evaluators: EvaluatorRegistry,
    *,
    roster: Sequence[str] | None = None,
    versions: Mapping[str, str],
) -> dict[str, Any]:
    """Return the result of one trace as JSON; of an entry that could not be read, the reason.

    Args:
        entry: From `tau_bridge.trace_file.read_trace_file`.
        evaluators: What to run.
        roster: The team's members, where the entry does not name them.
        versions: Printed with the result.
    """
    if entry.trace is None:
        return {"id": entry.id, "status": "failed", "error": entry.error}
    context = EvaluationContext(
        trace=entry.trace,
        roster=entry.roster if entry.roster is not None else tuple(roster) if roster else None,
        answer=entry.answer,
        expected_answer=entry.expected,
        messages=entry.messages,
    )
    evaluations = {each.evaluator: each for each in await evaluators.run(context)}
    graph = evaluations.pop("graph", None)
    return {
        "id": entry.id,
        "trace_id": entry.trace.trace_id,
        "status": graph.status if graph is not None else "scored",
        "reason": graph.reason if graph is not None else None,
        **_graph_parts(graph),
        **{
            name: each.model_dump(
                mode="json", exclude={"evaluator", "tier", "warnings"}, exclude_none=True
            )
            for name, each in evaluations.items()
        },
        "format": entry.format,
        "reading_problems": list(entry.problems),
        "warnings": [
            *_of_the_format(entry),
            *(w for e in (graph, *evaluations.values()) if e for w in e.warnings),
        ],
        "versions": dict(versions),
    }


def _of_the_format(entry: TraceEntry) -> Iterator[str]:
    """Yield what limits the figures because of where the trace comes from."""
    if entry.format != "trace":
        yield (
            f"read from {FORMATS[entry.format]}: every step was reported by what wrote it, and "
            "Greenroom observed none"
        )
    if entry.format == "messages":
        yield (
            "each message counts as a call, a reply too, so ping_pong and reciprocity tell who "
            "spoke after whom"
        )


def _graph_parts(graph: Evaluation | None) -> dict[str, Any]:
    """Metrics, labels, findings and the graph itself; empty where there was nothing to measure."""
    details = graph.details if graph is not None else {}
    empty: dict[str, Any] = {"metrics": {}, "labels": [], "findings": [], "graph": {}}
    return {**empty, **{part: details[part] for part in GRAPH_PARTS if part in details}}
