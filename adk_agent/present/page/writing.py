"""write_page: a run's report.html, from what is on disk."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pydantic import SecretStr

from adk_agent.core.errors import StorageError
from adk_agent.core.files import write_whole
from adk_agent.core.redaction import ModelRedactor
from adk_agent.present.page.document import render
from adk_agent.present.page.gathered import Gathered, gather
from adk_agent.present.page.lookup import Lookup
from adk_agent.present.page.timeline import without_conversation
from adk_agent.results.report import EvaluationReport
from adk_agent.runs.results import results_so_far
from adk_agent.runs.store import (
    MANIFEST,
    TRIALS,
    TrialRecord,
    iter_trials,
    load_manifest,
    refuse_own_file,
)
from tau_bridge.benchmarks import Benchmarks

PAGE = "report.html"


def write_page(
    results_dir: Path,
    run_id: str,
    *,
    benchmarks: Benchmarks,
    out: Path | None = None,
    secrets: Iterable[SecretStr] = (),
) -> Path:
    """Write the page of a run, finished or not, and return its path.

    Args:
        results_dir: The folder of runs.
        run_id: The run's id.
        benchmarks: What is installed; of the tools of other benchmarks none is known to write.
        out: Where to write it, a file or a folder; None: `report.html` in the run's folder.
        secrets: What must not be seen on it, besides everything that looks like a key.

    Raises:
        RequestError: There is no such run, or `out` is one of a run's own files.
        StorageError: It has no results, or they cannot be read, or the page cannot be written.
    """
    page = page_text(results_dir, run_id, benchmarks=benchmarks, secrets=secrets)
    path = _target(out, results_dir / run_id)
    try:
        write_whole(path, page)
    except StorageError as error:
        hint = "; name another place: --out FILE" if out is None else ""
        raise StorageError(f"{error}{hint}") from error
    return path


def page_text(
    results_dir: Path,
    run_id: str,
    *,
    benchmarks: Benchmarks,
    secrets: Iterable[SecretStr] = (),
    list_address: str | None = None,
    live_address: str | None = None,
) -> str:
    """Return the page of a run as text. Arguments and errors as of `write_page`.

    `list_address` is where a link back to the list of runs leads, `live_address` where one to what
    goes on now; None: there is no such link.
    """
    status, unredacted = results_so_far(results_dir, run_id)
    redactor = ModelRedactor(secrets)
    report = redactor.model(unredacted)
    directory = results_dir / run_id
    has_manifest = (directory / MANIFEST).exists()
    manifest = redactor.model(load_manifest(results_dir, run_id)) if has_manifest else None
    lookup = Lookup(benchmarks=benchmarks)
    found = _gathered(directory, report, redactor, lookup)
    return render(
        report,
        found,
        manifest,
        lookup,
        list_address=list_address,
        live_address=None if status.has_ended else live_address,
        goes_on=not status.has_ended,
    )


def _target(out: Path | None, directory: Path) -> Path:
    if out is None:
        return directory / PAGE
    if out.is_dir():
        return out / PAGE
    refuse_own_file(out)
    return out


def _gathered(
    directory: Path, report: EvaluationReport, redactor: ModelRedactor, lookup: Lookup
) -> Gathered:
    """Collect what the conversations tell; a run whose `trials.jsonl` is gone has none."""
    if not (directory / TRIALS).exists():
        return Gathered()
    keys = [row.key for row in report.trials]
    # What the page does not show need not be searched for secrets.
    records = (
        redactor.model(_shown(each)) for each in iter_trials(directory.parent, directory.name)
    )
    return gather(records, keys, lookup)


def _shown(record: TrialRecord) -> TrialRecord:
    """Return a record without the texts of steps that its conversations have already."""
    plays = (
        play.model_copy(update={"trace": without_conversation(play.trace)}) for play in record.chaos
    )
    trace = without_conversation(record.trace)
    return record.model_copy(update={"trace": trace, "chaos": tuple(plays)})
