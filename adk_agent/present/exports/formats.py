"""The formats of exports by their names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from adk_agent.present.exports.agentbeats import to_agentbeats
from adk_agent.present.exports.inspect_log import to_inspect
from adk_agent.present.exports.junit import to_junit
from adk_agent.present.exports.otlp import to_otlp
from adk_agent.present.exports.output import Export
from adk_agent.present.exports.played import PlayedRun
from adk_agent.present.exports.table import to_csv
from adk_agent.present.exports.tau2 import to_tau2
from tau_bridge.tau2.data import open_source

Exporter = Callable[[PlayedRun], Export]


def exporters(tau2_data_dir: Path | None) -> dict[str, Exporter]:
    """What makes each format's files.

    Args:
        tau2_data_dir: The official data folder; None means those of inspect-evals.
    """
    return {
        "tau2": lambda run: to_tau2(run, open_source(tau2_data_dir)),
        "inspect": to_inspect,
        "junit": to_junit,
        "otlp": to_otlp,
        "agentbeats": to_agentbeats,
        "csv": to_csv,
    }
