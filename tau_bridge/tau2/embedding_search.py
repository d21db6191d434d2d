"""EmbeddingSearch: ranks documents by the cosine of their vectors with a query's."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from operator import mul
from typing import Final

import anyio.from_thread

from tau_bridge.embedding import EmbeddingModel, Vector
from tau_bridge.errors import EmbeddingError
from tau_bridge.redaction import redact_error

_BATCH: Final = 100
"""Documents of one call, which keeps calls below the limits of providers."""


class EmbeddingSearch:
    """An index over texts, which are known by their places.

    Vectors of the texts are kept in memory, by the model's name: they are made at the first query
    and paid for once a process. Is called in worker threads, from which it calls the model on the
    event loop.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        self._vectors: dict[str, list[Vector]] = {}
        self._making = threading.Lock()

    def top(self, query: str, limit: int, model: EmbeddingModel) -> list[tuple[int, float]]:
        """Return the places and cosines of the nearest texts; of equal ones the earlier first.

        Raises:
            EmbeddingError: The model failed. That is no fault of whoever asked.
        """
        wanted, *_ = _embedded(model, [query])
        vectors = self._vectors_by(model)
        if len(wanted) != len(vectors[0]):
            raise EmbeddingError(
                f"the embedding model {model.name!r} gave vectors of {len(vectors[0])} numbers "
                f"before, and now one of {len(wanted)}"
            )
        cosines = [sum(map(mul, wanted, vector)) for vector in vectors]
        best = sorted(range(len(cosines)), key=cosines.__getitem__, reverse=True)[:limit]
        return [(place, cosines[place]) for place in best]

    def _vectors_by(self, model: EmbeddingModel) -> list[Vector]:
        with self._making:
            if model.name not in self._vectors:
                starts = range(0, len(self._texts), _BATCH)
                batches = (self._texts[start : start + _BATCH] for start in starts)
                made = [vector for batch in batches for vector in _embedded(model, batch)]
                self._vectors[model.name] = made
            return self._vectors[model.name]


def _embedded(model: EmbeddingModel, texts: Sequence[str]) -> list[Vector]:
    """Return the vectors of texts, of length 1 (0 for one of zeros)."""
    try:
        vectors = anyio.from_thread.run(model.embed, texts)
    except Exception as error:  # noqa: BLE001 - any vendor error: the model is injected
        reason = f"{type(error).__name__}: {redact_error(str(error))}"
        raise EmbeddingError(f"the embedding model {model.name!r} failed: {reason}") from None
    sizes = {len(vector) for vector in vectors}
    if len(vectors) != len(texts) or len(sizes) != 1 or 0 in sizes:
        raise EmbeddingError(
            f"the embedding model {model.name!r} gave {len(vectors)} vectors of "
            f"{sorted(sizes)} numbers for {len(texts)} texts"
        )
    return [_normalised(vector) for vector in vectors]


def _normalised(vector: Vector) -> Vector:
    length = math.sqrt(sum(map(mul, vector, vector)))
    return [number / length for number in vector] if length else list(vector)
