"""Offers the report as ADK artifacts, which users of `adk web` can read and download."""

from __future__ import annotations

import asyncio
import logging
import mimetypes
from collections.abc import Iterable
from pathlib import Path

from google.adk.agents.callback_context import CallbackContext
from google.genai import types

logger = logging.getLogger(__name__)

MIME_TYPES = {"report.md": "text/markdown", "report.json": "application/json"}
"""The artifacts' types by name, which is also the name of the file in the run's folder."""


async def offer_report(context: CallbackContext, directory: Path) -> dict[str, int]:
    """Save the report of a run as artifacts of the conversation.

    The event that follows the callback names them. If they cannot be saved, the evaluation does not
    fail.

    Args:
        context: The context of an agent's callback. Without an artifact service nothing is saved.
        directory: The folder of a finished run.

    Returns:
        The version of each saved artifact by name, counted from 0 in the conversation.
    """
    return await offer_files(context, [directory / name for name in MIME_TYPES])


async def offer_files(context: CallbackContext, files: Iterable[Path]) -> dict[str, int]:
    """Save files as artifacts of the conversation, as `offer_report` does."""
    if context.get_invocation_context().artifact_service is None:
        return {}
    versions = {}
    for path in files:
        try:
            data = await asyncio.to_thread(path.read_bytes)
            part = types.Part.from_bytes(data=data, mime_type=_mime_type(path))
            versions[path.name] = await context.save_artifact(path.name, part)
        except OSError as error:
            logger.warning("%s and files after it are not offered as artifacts: %s", path, error)
            break
    return versions


def _mime_type(path: Path) -> str:
    guessed, _ = mimetypes.guess_type(path.name)
    return MIME_TYPES.get(path.name) or guessed or "application/octet-stream"
