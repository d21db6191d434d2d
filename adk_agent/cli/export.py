"""`greenroom export`: a run in the form of another tool."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from adk_agent.cli.edge import OK
from adk_agent.cli.tracked import results_dir_of, run_of
from adk_agent.core.errors import RequestError
from adk_agent.core.printable import printable
from adk_agent.core.settings import Settings, variables
from adk_agent.core.veil import Veil
from adk_agent.present.exports.formats import exporters
from adk_agent.present.exports.output import Output, write_outputs
from adk_agent.present.exports.played import open_run
from tau_bridge.benchmarks import open_benchmarks

_STDOUT = "-"


def execute(parsed: argparse.Namespace) -> int:
    """Write a run's files in one format, and print their paths.

    Returns:
        0.

    Raises:
        RequestError: There is no such run, or it has nothing of this format.
        DataError: What the format needs is not installed, or the data are not there.
        StorageError: Something cannot be read or written.
    """
    results_dir = results_dir_of(parsed)
    run_id = run_of(parsed, results_dir)
    settings = Settings.load()
    run = open_run(results_dir, run_id, veil=Veil(settings.secrets()))
    export = exporters(open_benchmarks(variables))[parsed.to](run)
    if run.report.status == "interrupted":
        played, total = len(run.report.trials), run.report.plan.total_trials
        print(f"greenroom: {played} of {total} trials of run {run_id} have ended", file=sys.stderr)
    for note in export.notes:
        print(f"greenroom: {printable(note)}", file=sys.stderr)
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
