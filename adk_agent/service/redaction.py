"""RedactingFilter: keeps secrets out of the log."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable

from pydantic import SecretStr

HIDDEN = "[secret]"
_BEARER = re.compile(r"(?i)\b(bearer|basic)\s+[!-~]{4,}")
_MIN_CHARACTERS = 4
"""A shorter secret would blank out half of every line."""
_SERVER_LOGGERS = ("", "uvicorn", "uvicorn.error", "uvicorn.access")
_formatter = logging.Formatter()


class RedactingFilter(logging.Filter):
    """Replaces secrets, and whatever stands after Bearer, in messages and tracebacks.

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
        record.msg = self._clean(record.getMessage())
        record.args = None
        if record.exc_info and not record.exc_text:
            record.exc_text = _formatter.formatException(record.exc_info)
        if record.exc_text:
            record.exc_text = self._clean(record.exc_text)
        return True

    def _clean(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, HIDDEN)
        return _BEARER.sub(rf"\1 {HIDDEN}", text)


def redact_logs(secrets: Iterable[SecretStr]) -> None:
    """Have every handler that a server writes to leave the secrets out."""
    redacting = RedactingFilter(secrets)
    for name in _SERVER_LOGGERS:
        for handler in logging.getLogger(name).handlers:
            handler.addFilter(redacting)
