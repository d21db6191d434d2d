"""`greenroom score`: a trace file measured and judged, without playing anything."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from tau_bridge.trace_file import TraceEntry, read_roster, read_trace_file

from adk_agent.assembly import Assembly, versions
from adk_agent.cli.edge import OK, USAGE
from adk_agent.scoring import score_entry
from adk_agent.settings import Settings
from evals.driver import EvaluatorRegistry


def execute(parsed: argparse.Namespace) -> int:
    """Print what every trace of the file is worth.

    Returns:
        2 if any of them could not be read.
    """
    settings = Settings.load(offline=parsed.offline or None, without=_without(parsed.without))
    roster = None if parsed.roster is None else read_roster(Path(parsed.roster))
    evaluators = Assembly(settings=settings).trace_evaluators()
    entries = read_trace_file(Path(parsed.trace))
    return asyncio.run(_score_all(entries, evaluators, roster, as_json=parsed.json))


def _without(names: Sequence[str] | None) -> str | None:
    return None if names is None else ",".join(names)


async def _score_all(
    entries: Iterable[TraceEntry],
    evaluators: EvaluatorRegistry,
    roster: tuple[str, ...] | None,
    *,
    as_json: bool,
) -> int:
    code = OK
    made_with = versions()
    for entry in entries:
        scored = await score_entry(entry, evaluators, roster=roster, versions=made_with)
        if entry.trace is None:
            code = USAGE
            print(f"greenroom: {scored['error']}", file=sys.stderr)
        if as_json:
            print(json.dumps(scored, ensure_ascii=False), flush=True)
        elif entry.trace is not None:
            print(as_text(scored), flush=True)
    return code


def as_text(scored: dict[str, Any]) -> str:
    """A scored trace for a terminal."""
    graph = scored["graph"]
    coverage = graph.get("coverage")
    seen = "" if coverage is None else f", {coverage:.0%} of them observed"
    lines = [
        f"Trace {scored['trace_id']}: {len(graph.get('nodes', ()))} agents, "
        f"{graph.get('agent_calls', 0)} calls between agents{seen}",
        f"Labels: {', '.join(scored['labels']) or 'none'}",
    ]
    if scored["reason"]:
        lines.append(f"Not measured: {scored['reason']}")
    lines += ["", *_metrics(scored["metrics"])]
    lines += ["", "Findings:", *[f"  {each['statement']}" for each in scored["findings"]]]
    lines += [f"  {name}: {_told(scored[name])}" for name in ("judge", "latency") if name in scored]
    lines += [f"Warning: {warning}" for warning in scored["warnings"]]
    problems = [*scored["reading_problems"], *scored.get("problems", ())]
    lines += [f"In the trace: {problem}" for problem in problems]
    return "\n".join(lines)


def _metrics(metrics: dict[str, Any]) -> list[str]:
    width = max(map(len, metrics), default=0)
    return [f"{name:{width}}  {_value(metric)}".rstrip() for name, metric in metrics.items()]


def _value(metric: dict[str, Any]) -> str:
    if metric["value"] is None:
        return f"-  ({metric['reason']})"
    highest = metric.get("agents") or {}
    best = [name for name, value in highest.items() if value == metric["value"]]
    return f"{metric['value']:.4g}{f'  ({best[0]})' if best else ''}"


def _told(evaluation: dict[str, Any]) -> str:
    if evaluation["status"] != "scored":
        return f"{evaluation['status']}: {evaluation.get('reason')}"
    values = ", ".join(f"{name} {value:.4g}" for name, value in evaluation["values"].items())
    return f"{values} (by {evaluation.get('produced_by', 'rules')})"
