"""The formats of exports by their names."""

from __future__ import annotations

from collections.abc import Callable

from adk_agent.present.exports.agentbeats import to_agentbeats
from adk_agent.present.exports.inspect_log import to_inspect
from adk_agent.present.exports.junit import to_junit
from adk_agent.present.exports.otlp import to_otlp
from adk_agent.present.exports.output import Export
from adk_agent.present.exports.played import PlayedRun
from adk_agent.present.exports.table import to_csv
from adk_agent.present.exports.tau2 import to_tau2
from tau_bridge.benchmarks import Benchmarks

Exporter = Callable[[PlayedRun], Export]


def exporters(benchmarks: Benchmarks) -> dict[str, Exporter]:
    """What makes each format's files.

    Args:
        benchmarks: What can be played.
    """
    return {
        "tau2": lambda run: to_tau2(run, benchmarks["tau2"].source),  # type: ignore[attr-defined]
        "inspect": to_inspect,
        "junit": to_junit,
        "otlp": to_otlp,
        "agentbeats": to_agentbeats,
        "csv": lambda run: to_csv(run, benchmarks),
    }
