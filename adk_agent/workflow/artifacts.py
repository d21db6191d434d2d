"""Offers the report as ADK artifacts, which users of `adk web` can read and download."""

from __future__ import annotations

import asyncio
import logging
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
    if context.get_invocation_context().artifact_service is None:
        return {}
    versions = {}
    try:
        for name, mime_type in MIME_TYPES.items():
            data = await asyncio.to_thread((directory / name).read_bytes)
            part = types.Part.from_bytes(data=data, mime_type=mime_type)
            versions[name] = await context.save_artifact(name, part)
    except OSError as error:
        logger.warning("the report in %s is not offered as artifacts: %s", directory, error)
    return versions
