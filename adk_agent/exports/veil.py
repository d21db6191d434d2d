"""Veil: keeps what looks like a key, and every key that we know, out of what is exported."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, TypeVar

from pydantic import BaseModel, SecretStr

from adk_agent.masking import MASK, without_keys

M = TypeVar("M", bound=BaseModel)
_MIN_CHARACTERS = 4
"""A shorter secret would blank out half of every text."""
_SUSPICIOUS = re.compile(r"key|token|secret|passw|authorization|[sp]k-|bearer", re.IGNORECASE)
"""Without one of these, `without_keys` changes nothing; it takes ten times as long to say so."""


class Veil:
    """Masks secrets in texts, values and models.

    A run on disk is masked already as far as its writers knew. An export leaves the machine, so
    everything is looked at again, for the secrets of today's settings too.

    Args:
        secrets: What must not be seen anywhere.
    """

    def __init__(self, secrets: Iterable[SecretStr] = ()) -> None:
        values = {secret.get_secret_value() for secret in secrets}
        known = sorted((v for v in values if len(v) >= _MIN_CHARACTERS), key=len, reverse=True)
        self._known = re.compile("|".join(map(re.escape, known))) if known else None

    def text(self, text: str) -> str:
        """The text without secrets."""
        if self._known is not None:
            text = self._known.sub(MASK, text)
        return without_keys(text) if _SUSPICIOUS.search(text) else text

    def value(self, value: Any) -> Any:
        """A JSON value without secrets in its texts and its keys."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.text(key): self.value(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.value(item) for item in value]
        return value

    def model(self, model: M) -> M:
        """A model without secrets in its texts."""
        return type(model).model_validate(self.value(model.model_dump(mode="json")))
