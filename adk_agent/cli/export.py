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

from adk_agent.cli.details import read_details
from adk_agent.cli.edge import INCOMPLETE, OK
from adk_agent.cli.flags import A_RUN, add_results_dir, settings_of
from adk_agent.cli.terminal import say, write_data
from adk_agent.core.errors import GreenroomError, RequestError
from adk_agent.core.redaction import ModelRedactor
from adk_agent.core.settings import Settings, variables
from adk_agent.present.exports.formats import (
    Exporter,
    exporter_of,
    exporters,
    submitters,
    why_command_only,
)
from adk_agent.present.exports.output import Export, Output, refuse_others, write_outputs
from adk_agent.present.exports.played import open_run
from adk_agent.requests.config_file.reading import LoadedConfig
from adk_agent.requests.spelling import did_you_mean
from adk_agent.runs.naming import LATEST, find_run
from tau_bridge.benchmarks import Benchmarks, open_benchmarks
from tau_bridge.errors import BridgeError

_STDOUT = "-"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description = (
        "Write a run in another tool's format, or make a submission to a leaderboard of runs."
    )
    parser.add_argument(
        "run",
        nargs="*",
        help=f"{A_RUN}; latest by default. Several where the format is that of a submission",
    )
    add_results_dir(parser)
    parser.add_argument(
        "--to",
        required=True,
        metavar="FORMAT",
        help="agentbeats, csv, inspect, junit, otlp, or a format of the benchmark's own, such as "
        "that of its leaderboard",
    )
    parser.add_argument(
        "--details",
        metavar="FILE",
        help="for a submission: a TOML file with what no run knows, such as the model's name; "
        "without it an example is shown",
    )
    parser.add_argument(
        "--out", metavar="FILE", help="file, or folder if there are several files; - is stdout"
    )


def execute(parsed: argparse.Namespace) -> int:
    """Write the files of a run, or of a submission, in one format, and print their paths.

    Returns:
        0.

    Raises:
        RequestError: There is no such run or format, or the format takes one run and no details.
        DataError: A dependency of the format is not installed, its data are missing, or the run has
            nothing to export in it, or is not for submission.
        IncompleteSubmissionError: It would be, if missing trials were played.
        StorageError: A file cannot be read or written.
    """
    settings = settings_of(parsed)
    benchmarks = open_benchmarks(variables)
    found = [find_run(name, settings.results_dir) for name in parsed.run or [LATEST]]
    results_dir, run_id = found[0]
    folder = Path(parsed.out) if parsed.out else results_dir / run_id
    submitter = submitters(benchmarks).get(parsed.to)
    if submitter is None:
        exporter = exporter_of(parsed.to, benchmarks)
        _refuse_surplus(parsed)
        export = _export(exporter, results_dir, run_id, settings.secrets())
    else:
        redactor = ModelRedactor(settings.secrets())
        runs = [open_run(*each, redactor=redactor) for each in found]
        details = read_details(Path(parsed.details)) if parsed.details is not None else {}
        export = submitter(runs, details)
        refuse_others(export.outputs, folder)
        _say_notes(export)
    if parsed.out == _STDOUT:
        _print(export.outputs)
        return OK
    for path in _write(export, results_dir / run_id, parsed.out):
        say(path)
    return OK


def _refuse_surplus(parsed: argparse.Namespace) -> None:
    """Refuse what only a submission takes."""
    if len(parsed.run) > 1:
        raise RequestError(f"--to {parsed.to} writes one run, not {len(parsed.run)}: name one")
    if parsed.details is not None:
        raise RequestError(f"--details: --to {parsed.to} takes no details: leave it out")


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
            problem = why_command_only(entry.to, benchmarks) or (
                f"there is no format {entry.to!r}: {did_you_mean(entry.to, known)}"
            )
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
    _say_notes(export)
    return export


def _say_notes(export: Export) -> None:
    for note in export.notes:
        say(f"greenroom: {note}", file=sys.stderr)


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
