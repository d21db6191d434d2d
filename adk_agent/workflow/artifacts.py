"""The report as ADK artifacts: what `adk web` offers for reading and downloading."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

from google.adk.agents.callback_context import CallbackContext
from google.genai import types

logger = logging.getLogger(__name__)

MIME_TYPES = {"report.md": "text/markdown", "report.json": "application/json"}
"""The artifacts by name, which is that of the file in the run's folder too."""


async def offer_report(context: CallbackContext, directory: Path) -> dict[str, int]:
    """Save the report of a run as artifacts of the conversation.

    The event that follows the callback names them, so that whoever shows the conversation knows.
    An evaluation that was played does not fail because they cannot be saved.

    Args:
        context: Of a callback of an agent. Without an artifact service nothing is saved.
        directory: The folder of a finished run.

    Returns:
        The version of each artifact by its name, counted from 0 within the conversation; empty
        where they could not be saved.
    """
    if context.get_invocation_context().artifact_service is None:
        return {}
    try:
        texts = await asyncio.to_thread(_read, directory)
        return {name: await _save(context, name, data) for name, data in texts.items()}
    except OSError as error:
        logger.warning("the report in %s is not offered as artifacts: %s", directory, error)
        return {}


def _read(directory: Path) -> dict[str, bytes]:
    return {name: (directory / name).read_bytes() for name in MIME_TYPES}


async def _save(context: CallbackContext, name: str, data: bytes) -> int:
    part = types.Part.from_bytes(data=data, mime_type=MIME_TYPES[name])
    return await context.save_artifact(name, part)
