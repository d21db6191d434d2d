"""RedactingFilter: keeps secrets out of the log, and lines that others wrote from passing for ours."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable

from pydantic import SecretStr

from adk_agent.core.escaping import escape_controls

HIDDEN = "[secret]"
_BEARER = re.compile(r"(?i)\b(bearer|basic)\s+[!-~]{4,}")
_MIN_CHARACTERS = 4
"""A shorter secret would blank out half of every line."""
_SERVER_LOGGERS = ("", "uvicorn", "uvicorn.error", "uvicorn.access")
_formatter = logging.Formatter()


class RedactingFilter(logging.Filter):
    """Replaces secrets, and whatever stands after Bearer, in messages and tracebacks.

    Requests and agents choose part of what is logged: line breaks in a message are shown as escapes,
    so that nobody writes a line of his own, and control characters everywhere.

    Args:
        secrets: What must not be seen.
    """

    def __init__(self, secrets: Iterable[SecretStr]) -> None:
        super().__init__()
        values = {secret.get_secret_value() for secret in secrets}
        self._secrets = sorted(
            (value for value in values if len(value) >= _MIN_CHARACTERS), key=len, reverse=True
        )

    def filter(self, record: logging.LogRecord) -> bool:
        """Clean one record; it is always let through."""
        record.msg = self._clean(_message(record)).replace("\n", "\\n")
        record.args = None
        if record.exc_info and not record.exc_text:
            record.exc_text = _formatter.formatException(record.exc_info)
        if record.exc_text:
            record.exc_text = self._clean(record.exc_text)
        return True

    def _clean(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, HIDDEN)
        return escape_controls(_BEARER.sub(rf"\1 {HIDDEN}", text))


def _message(record: logging.LogRecord) -> str:
    """The message; as it was written where its arguments do not fit it.

    A handler reports a record that it cannot write, and whoever logs goes on. A filter would raise.
    """
    try:
        return record.getMessage()
    except Exception:  # noqa: BLE001 - arguments may be objects of any kind
        return str(record.msg)


def redact_logs(secrets: Iterable[SecretStr]) -> None:
    """Have every handler that a server writes to leave the secrets out."""
    redacting = RedactingFilter(secrets)
    for name in _SERVER_LOGGERS:
        for handler in logging.getLogger(name).handlers:
            handler.addFilter(redacting)
