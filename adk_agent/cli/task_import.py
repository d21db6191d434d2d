"""`greenroom tasks import`: tasks from other tools' files, runs and recorded traces."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from adk_agent.cli.edge import OK
from adk_agent.cli.flags import add_results_dir, settings_of
from adk_agent.core.errors import RequestError
from adk_agent.core.escaping import escape_controls
from adk_agent.play.recordings import Read, conversations_of_file, conversations_of_run
from adk_agent.runs.store import MANIFEST, TRIALS
from tau_bridge.benchmarks import Benchmarks
from tau_bridge.redaction import Redactor
from tau_bridge.task_files.documents import MAX_BYTES, SUFFIXES, read_document
from tau_bridge.task_files.imports.drafting import draft_of
from tau_bridge.task_files.imports.drafts import FileDraft
from tau_bridge.task_files.imports.formats import FORMATS, Format, format_of, read_tasks
from tau_bridge.task_files.imports.otlp import read_otlp
from tau_bridge.task_files.imports.traces import read_traces
from tau_bridge.task_files.imports.writing import as_yaml

_GZIP = b"\x1f\x8b"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the action."""
    parser.description = (
        "Make a file of tasks of another tool's file, or of conversations that went wrong. What "
        "has no counterpart is named on stderr and at the head of the file."
    )
    parser.add_argument("source", help="a file, or a run's folder or id")
    parser.add_argument("--out", metavar="FILE.yaml", help="the file to write; default: stdout")
    parser.add_argument(
        "--format", choices=tuple(FORMATS), help="of the source; recognised where it is not named"
    )
    add_results_dir(parser)


def execute(parsed: argparse.Namespace, benchmarks: Benchmarks) -> int:
    """Write the tasks of a source, and say on stderr what was left out.

    Raises:
        RequestError: There is no such source, or the output file is there already.
        DataError: The source cannot be used.
    """
    settings = settings_of(parsed)
    redactor = Redactor(settings.secrets())
    source = Path(parsed.source).expanduser()
    if source.exists():
        draft = _draft(source, parsed.format, benchmarks, redactor)
        name = source.name
    else:
        folder = settings.results_dir / parsed.source
        if not (folder / MANIFEST).is_file():
            raise RequestError(
                f"there is no file {str(source)!r}, and no run of this id in "
                f"{str(settings.results_dir)!r}"
            )
        draft = _of_run(folder, benchmarks, redactor)
        name = f"run {parsed.source}"
    text = as_yaml(draft, source=name)
    for note in draft.notes:
        print(escape_controls(f"greenroom: {note}"), file=sys.stderr)
    if parsed.out is None:
        sys.stdout.write(text)
    else:
        _write(Path(parsed.out).expanduser(), text, len(draft.tasks))
    return OK


def _draft(
    source: Path, named: Format | None, benchmarks: Benchmarks, redactor: Redactor
) -> FileDraft:
    if source.is_dir():
        return _of_run(source, benchmarks, redactor)
    format_ = named or _recognised(source)
    if format_ == "run":
        return _of_run(source.parent, benchmarks, redactor)
    stem = source.name.partition(".")[0] or source.name
    if format_ == "results":
        return _drafted(conversations_of_file(source, benchmarks), stem, redactor)
    if format_ == "trace":
        return _drafted(read_traces(source), stem, redactor)
    document = read_document(source)
    if format_ == "otlp":
        return _drafted(read_otlp(document), stem, redactor)
    return read_tasks(document, format_, redactor)


def _recognised(source: Path) -> Format:
    """Return the format of a file; what is packed can only be results or traces."""
    if source.name == TRIALS:
        return "run"
    if source.stat().st_size > MAX_BYTES:
        raise RequestError(f"{source.name}: too large to recognise; name its format with --format")
    if source.suffix.lower() in SUFFIXES:
        return format_of(read_document(source))
    with source.open("rb") as file:
        is_packed = file.read(2) == _GZIP
    if not is_packed:
        raise RequestError(
            f"{source.name}: the format is not recognised by a name that does not end with "
            f"{', '.join(SUFFIXES)}; name it with --format"
        )
    return "results" if source.name.lower().endswith(".json.gz") else "trace"


def _of_run(folder: Path, benchmarks: Benchmarks, redactor: Redactor) -> FileDraft:
    if not (folder / MANIFEST).is_file():
        raise RequestError(f"{str(folder)!r} is not the folder of a run: it has no {MANIFEST}")
    resolved = folder.resolve()
    read = conversations_of_run(resolved.parent, resolved.name, benchmarks)
    return _drafted(read, f"run-{resolved.name}", redactor)


def _drafted(read: Read, name: str, redactor: Redactor) -> FileDraft:
    conversations, notes = read
    return draft_of(conversations, name=name, redactor=redactor, notes=notes)


def _write(path: Path, text: str, count: int) -> None:
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise RequestError(f"{str(path)!r} is there already; name another file") from None
    except OSError as error:
        raise RequestError(f"cannot write {str(path)!r}: {error.strerror}") from error
    tasks = f"{count} task{'s' if count != 1 else ''}"
    print(f"{path} is written, {tasks}; check it: greenroom tasks check {path}")
