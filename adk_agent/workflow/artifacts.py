"""Offers what a run left as ADK artifacts, which users of `adk web` can look at and download."""

from __future__ import annotations

import asyncio
import logging
import mimetypes
from collections.abc import Iterable
from pathlib import Path

from google.adk.agents.callback_context import CallbackContext
from google.genai import types

from adk_agent.conversation.deps import ConversationDeps
from adk_agent.core.errors import GreenroomError
from adk_agent.present.page.picture import NAME as PICTURE
from adk_agent.present.page.picture import score_picture
from adk_agent.present.page.writing import write_page
from adk_agent.results.report import EvaluationReport
from adk_agent.runs.store import MARKDOWN, REPORT

logger = logging.getLogger(__name__)

_TYPES = {".md": "text/markdown", ".svg": "image/svg+xml"}
"""The types that some systems do not know."""


async def offer_report(context: CallbackContext, run_id: str, deps: ConversationDeps) -> None:
    """Write the page of a finished run, and offer it with the report.

    Without an artifact service nothing is written or offered. The report in markdown comes first:
    the web interface shows the last one in the conversation, where it would be all text.
    """
    if context.get_invocation_context().artifact_service is None:
        return
    directory = deps.results_dir / run_id
    files = [directory / MARKDOWN, directory / REPORT]
    try:
        files.insert(1, await asyncio.to_thread(_page, run_id, deps))
    except GreenroomError as error:
        logger.warning("the page of run %s is not offered as an artifact: %s", run_id, error)
    await offer_files(context, files)


def _page(run_id: str, deps: ConversationDeps) -> Path:
    return write_page(deps.results_dir, run_id, benchmarks=deps.benchmarks(), secrets=deps.secrets)


async def offer_picture(context: CallbackContext, report: EvaluationReport) -> None:
    """Offer a picture of a report's scores, which the web interface shows in the conversation."""
    picture = score_picture(report)
    if picture is not None:
        await _offer(context, PICTURE, picture.encode())


async def offer_files(context: CallbackContext, files: Iterable[Path]) -> None:
    """Offer files; if they cannot be read or kept, the conversation goes on without them."""
    for path in files:
        try:
            data = await asyncio.to_thread(path.read_bytes)
        except OSError as error:
            logger.warning("%s is not offered as an artifact: %s", path, error)
        else:
            await _offer(context, path.name, data)


async def _offer(context: CallbackContext, name: str, data: bytes) -> None:
    """Save an artifact of the conversation; the context's event names it."""
    if context.get_invocation_context().artifact_service is None:
        return
    suffix = Path(name).suffix
    mime_type = _TYPES.get(suffix) or mimetypes.guess_type(name)[0] or "application/octet-stream"
    try:
        await context.save_artifact(name, types.Part.from_bytes(data=data, mime_type=mime_type))
    except OSError as error:
        logger.warning("%s is not offered as an artifact: %s", name, error)
