"""Exporting: hands a run over as files: its report, its page, or another tool's format."""

from __future__ import annotations

import difflib

from adk_agent.conversation.deps import ConversationDeps
from adk_agent.conversation.replies import Answer, Asked
from adk_agent.conversation.telling import status_line
from adk_agent.conversation.turn import Turn
from adk_agent.core.errors import RequestError
from adk_agent.core.redaction import ModelRedactor
from adk_agent.present.exports.formats import exporters, why_command_only
from adk_agent.present.exports.output import write_outputs
from adk_agent.present.exports.played import open_run
from adk_agent.present.page.writing import write_page
from adk_agent.requests.intent import Export, Question
from adk_agent.runs.store import MARKDOWN, REPORT
from adk_agent.runs.tracking import RunStatus

_SAME = {
    "html": "page", "webpage": "page", "web page": "page", "md": "markdown", "otel": "otlp",
    "opentelemetry": "otlp", "xml": "junit", "spreadsheet": "csv", "table": "csv", "report.json": "json",
    "report.md": "markdown", "report.html": "page", "pdf": "page",
}  # fmt: skip
_REPORTS = {"report": (MARKDOWN, REPORT), "json": (REPORT,), "markdown": (MARKDOWN,)}
"""The files of a run that are its report."""


def exported(intent: Export, status: RunStatus, turn: Turn) -> Answer | Asked:
    """Write the files of a format beside the run, and return their paths.

    Raises:
        RequestError: There is no such format, or nothing to export yet.
        DataError: A dependency of the format is not installed, or the run has nothing for it.
        StorageError: A file cannot be read or written.
    """
    deps = turn.deps
    own = exporters(deps.benchmarks())
    known = [*_REPORTS, "page", *own]
    if intent.format is None:
        question = Question(
            text=f"In which format? There are {', '.join(known)}.", request=turn.text
        )
        return Asked(question=question)
    asked = intent.format.strip().lower()
    name = asked if asked in known else _SAME.get(asked, asked)
    if name not in known:
        if (why := why_command_only(name, deps.benchmarks())) is not None:
            raise RequestError(why)
        near = difflib.get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"
        raise RequestError(f"There is no format {asked[:80]!r}: {hint}")
    if name in _REPORTS:
        return _report(name, status, deps)
    if name == "page":
        page = write_page(
            deps.results_dir, status.run_id, benchmarks=deps.benchmarks(), secrets=deps.secrets
        )
        return Answer(text=f"The page of run {status.run_id}: {page}", files=(page,))
    run = open_run(deps.results_dir, status.run_id, redactor=ModelRedactor(deps.secrets))
    export = own[name](run)
    paths = write_outputs(export.outputs, deps.results_dir / status.run_id, named=False)
    lines = [f"Run {status.run_id} as {name}: {', '.join(map(str, paths))}"]
    lines += [f"- {note}" for note in export.notes]
    return Answer(text="\n".join(lines), files=tuple(paths))


def _report(name: str, status: RunStatus, deps: ConversationDeps) -> Answer:
    folder = deps.results_dir / status.run_id
    files = tuple(path for file in _REPORTS[name] if (path := folder / file).exists())
    if not files:
        when = (
            "There is no report of it." if status.has_ended else "Its report comes when it is over."
        )
        raise RequestError(f"{status_line(status)} {when}")
    paths = ", ".join(map(str, files))
    return Answer(
        text=f"{status_line(status)}\n\nIts report: {paths}",
        report_of=status.run_id if (folder / REPORT).exists() else None,
        files=files,
    )
