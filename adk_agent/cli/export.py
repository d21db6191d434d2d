"""`greenroom export`: writes a run in another tool's format."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from adk_agent.cli.edge import OK
from adk_agent.cli.flags import add_run, run_of, settings_of
from adk_agent.core.errors import RequestError
from adk_agent.core.escaping import escape_controls
from adk_agent.core.redaction import ModelRedactor
from adk_agent.core.settings import variables
from adk_agent.present.exports.formats import exporter_of
from adk_agent.present.exports.output import Output, write_outputs
from adk_agent.present.exports.played import open_run
from tau_bridge.benchmarks import open_benchmarks

_STDOUT = "-"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description = "Write a run in another tool's format."
    add_run(parser)
    parser.add_argument(
        "--to",
        required=True,
        metavar="FORMAT",
        help="agentbeats, csv, inspect, junit, otlp, or a format of the benchmark's own",
    )
    parser.add_argument(
        "--out", metavar="FILE", help="file, or folder if there are several files; - is stdout"
    )


def execute(parsed: argparse.Namespace) -> int:
    """Write a run's files in one format, and print their paths.

    Returns:
        0.

    Raises:
        RequestError: There is no such run or format.
        DataError: A dependency of the format is not installed, its data are missing, or the run has
            nothing to export in it.
        StorageError: A file cannot be read or written.
    """
    results_dir, run_id = run_of(parsed)
    secrets = settings_of(parsed).secrets()
    exporter = exporter_of(parsed.to, open_benchmarks(variables))
    run = open_run(results_dir, run_id, redactor=ModelRedactor(secrets))
    export = exporter(run)
    if run.report.status == "interrupted":
        played, total = len(run.report.trials), run.report.plan.total_trials
        print(f"greenroom: {played} of {total} trials of run {run_id} have ended", file=sys.stderr)
    for note in export.notes:
        print(f"greenroom: {escape_controls(note)}", file=sys.stderr)
    if parsed.out == _STDOUT:
        _print(export.outputs)
        return OK
    target = Path(parsed.out) if parsed.out else results_dir / run_id
    named = bool(parsed.out) and not parsed.out.endswith("/")
    for path in write_outputs(export.outputs, target, named=named):
        print(path)
    return OK


def _print(outputs: Sequence[Output]) -> None:
    if len(outputs) > 1:
        names = ", ".join(output.name for output in outputs)
        raise RequestError(f"these are {len(outputs)} files ({names}): let --out name a folder")
    for chunk in outputs[0].chunks:
        sys.stdout.write(chunk)
