"""`greenroom export`: writes a run in another tool's format."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from pydantic import SecretStr

from adk_agent.cli.edge import INCOMPLETE, OK
from adk_agent.cli.flags import add_run, run_of, settings_of
from adk_agent.cli.terminal import say, write_data
from adk_agent.core.errors import GreenroomError, RequestError
from adk_agent.core.redaction import ModelRedactor
from adk_agent.core.settings import Settings, variables
from adk_agent.present.exports.formats import Exporter, exporter_of, exporters
from adk_agent.present.exports.output import Export, Output, write_outputs
from adk_agent.present.exports.played import open_run
from adk_agent.requests.config_file.reading import LoadedConfig
from adk_agent.requests.spelling import did_you_mean
from tau_bridge.benchmarks import Benchmarks, open_benchmarks
from tau_bridge.errors import BridgeError

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
    export = _export(exporter, results_dir, run_id, secrets)
    if parsed.out == _STDOUT:
        _print(export.outputs)
        return OK
    for path in _write(export, results_dir / run_id, parsed.out):
        say(path)
    return OK


@dataclass(frozen=True, kw_only=True)
class NamedExport:
    """An export that a configuration file names.

    Args:
        to: The format.
        out: The file, or the folder if it ends with a slash; None for the run's folder.
        exporter: Makes the files.
    """

    to: str
    out: str | None
    exporter: Exporter

    def write(self, run_id: str, settings: Settings, stream: TextIO) -> int:
        """Write the files of a run and print their paths; one that cannot be loses nothing.

        Returns:
            0; 3 if they could not be written.
        """
        folder = settings.results_dir / run_id
        try:
            export = _export(self.exporter, settings.results_dir, run_id, settings.secrets())
            for path in _write(export, folder, self.out):
                say(f"{self.to}: {path}", file=stream)
        except (GreenroomError, BridgeError) as error:
            again = shlex.join(["greenroom", "export", run_id, "--to", self.to])
            say(
                f"greenroom: exports: {self.to} was not written: {error}; the run is kept in "
                f"{folder}; write it later: {again}",
                file=sys.stderr,
            )
            return INCOMPLETE
        return OK


def checked_exports(config: LoadedConfig | None, benchmarks: Benchmarks) -> tuple[NamedExport, ...]:
    """Return the exports that a configuration file names.

    Raises:
        RequestError: There is no such format.
    """
    if config is None or not config.content.exports:
        return ()
    known = exporters(benchmarks)
    found = []
    for index, entry in enumerate(config.content.exports):
        if entry.to not in known:
            problem = f"there is no format {entry.to!r}: {did_you_mean(entry.to, known)}"
            raise config.error(("exports", index, "to"), problem)
        slash = "/" if entry.out is not None and entry.out.endswith("/") else ""
        out = None if entry.out is None else f"{config.beside(entry.out)}{slash}"
        found.append(NamedExport(to=entry.to, out=out, exporter=known[entry.to]))
    return tuple(found)


def _export(
    exporter: Exporter, results_dir: Path, run_id: str, secrets: Iterable[SecretStr]
) -> Export:
    """Return the files of a run, and print what there is to say about them."""
    run = open_run(results_dir, run_id, redactor=ModelRedactor(secrets))
    export = exporter(run)
    if run.report.status == "interrupted":
        played, total = len(run.report.trials), run.report.plan.total_trials
        say(f"greenroom: {played} of {total} trials of run {run_id} have ended", file=sys.stderr)
    for note in export.notes:
        say(f"greenroom: {note}", file=sys.stderr)
    return export


def _write(export: Export, folder: Path, out: str | None) -> Sequence[Path]:
    """Write files into a run's folder, or where `out` says, and return their paths."""
    target = Path(out) if out else folder
    return write_outputs(export.outputs, target, named=bool(out) and not (out or "").endswith("/"))


def _print(outputs: Sequence[Output]) -> None:
    if len(outputs) > 1:
        names = ", ".join(output.name for output in outputs)
        raise RequestError(f"these are {len(outputs)} files ({names}): let --out name a folder")
    for chunk in outputs[0].chunks:
        write_data(chunk, end="")
