"""`ask`: everything that `greenroom ask` can answer, as a function."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

from adk_agent.assembly import Assembly
from adk_agent.conversation.outcome import Outcome
from adk_agent.conversation.replies import Answer, Asked, CancelRuns, words_of
from adk_agent.core.errors import GreenroomError, RequestError
from adk_agent.core.settings import Settings, variables
from adk_agent.requests.intent import Situation
from adk_agent.results.digest import digest_of, template_prose
from adk_agent.results.report import EvaluationReport as Report
from adk_agent.runs.naming import find_run
from adk_agent.runs.tracking import request_cancel
from tau_bridge.benchmarks import open_benchmarks
from tau_bridge.errors import BridgeError


@dataclass(frozen=True, kw_only=True)
class Reply:
    """The answer of `ask`.

    Args:
        text: The answer in markdown; of an evaluation, its prose, if it has some.
        is_question: True if something has to be answered, or confirmed by `confirmed=True`, first.
        report: The report of an evaluation that was played.
        files: Files that were written or are to be opened.
    """

    text: str
    is_question: bool = False
    report: Report | None = None
    files: tuple[Path, ...] = ()


def ask(
    text: str,
    *,
    run: str | None = None,
    confirmed: bool = False,
    results_dir: Path | str | None = None,
    offline: bool | None = None,
) -> Reply:
    """Answer a question or do what a request asks for; `aask` says what each argument means.

    Raises:
        RuntimeError: An event loop is already running: await `aask` instead.
        GreenroomError: As for `aask`.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        work = aask(text, run=run, confirmed=confirmed, results_dir=results_dir, offline=offline)
        return asyncio.run(work)  # noqa: TID251 - for callers without an event loop
    raise RuntimeError("an event loop is already running: await greenroom.aask(...) instead")


async def aask(
    text: str,
    *,
    run: str | None = None,
    confirmed: bool = False,
    results_dir: Path | str | None = None,
    offline: bool | None = None,
) -> Reply:
    """Answer a question or do what a request asks for, as `greenroom ask` does.

    Args:
        text: A question about runs and terms, or a request, in plain English.
        run: The run that it is about: its id, its folder, `latest` or `previous`.
        confirmed: Do what would have to be confirmed: repeat or export the newest run where none is
            named, play a plan that is large or does not account for all words.
        results_dir: The folder of runs; None for `GREENROOM_RESULTS_DIR`, or `results`.
        offline: Use no language model, even if one is configured.

    Raises:
        RequestError: It cannot be understood, or what it names does not exist.
        GreenroomError: An evaluation did not finish. What did is on disk.
    """
    asked = _checked(text)
    settings = Settings.load(
        results_dir=None if results_dir is None else Path(results_dir), offline=offline
    )
    run_ids: tuple[str, ...] = ()
    if run is not None:
        folder, run_id = find_run(run, settings.results_dir)
        settings, run_ids = settings.model_copy(update={"results_dir": folder}), (run_id,)
    try:
        benchmarks = open_benchmarks(variables)
    except BridgeError as exc:
        raise RequestError(str(exc)) from exc
    pipeline = Assembly(settings=settings, benchmarks=benchmarks).pipeline()
    situation = Situation(run_ids=run_ids)
    return _reply(
        await pipeline.run_request(asked, situation=situation, confirmed=confirmed),
        settings.results_dir,
    )


def _checked(text: object) -> str:
    if isinstance(text, str) and text.strip():
        return text
    raise RequestError(f"text is {text!r:.80}: give a question or a request, a text")


def _reply(outcome: Outcome, results_dir: Path) -> Reply:
    if outcome.problem is not None:
        raise outcome.problem.error()
    if outcome.report is not None:
        prose = outcome.interpretation or template_prose(digest_of(outcome.report))
        return Reply(text=prose, report=outcome.report)
    if outcome.reply is None:
        raise GreenroomError("there is no answer; this is a fault of greenroom")
    if isinstance(outcome.reply, CancelRuns):
        for run_id in outcome.reply.run_ids:
            request_cancel(results_dir, run_id)
    return Reply(
        text=words_of(outcome.reply),
        is_question=isinstance(outcome.reply, Asked),
        files=outcome.reply.files if isinstance(outcome.reply, Answer) else (),
    )
