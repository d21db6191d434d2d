"""Embedding: vectors of texts by a model, injected by the program that has one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

Vector = Sequence[float]


class Embed(Protocol):
    """Calls an embedding model once. Whatever it raises is the caller's to map."""

    async def __call__(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Return a vector for each text, in order."""


@dataclass(frozen=True, kw_only=True)
class EmbeddingModel:
    """A model that makes vectors of texts."""

    name: str
    embed: Embed
