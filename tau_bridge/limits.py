"""Limits: the base of classes of positive limits."""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits, all of which are positive.

    Raises:
        ValueError: One of them is not.
    """

    def __post_init__(self) -> None:
        for limit in fields(self):
            value = getattr(self, limit.name)
            if not value > 0:
                raise ValueError(f"{limit.name} must be positive, not {value!r}")
