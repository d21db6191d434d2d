"""Document: one text of a knowledge base."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Document:
    """One document."""

    id: str
    title: str
    content: str

    @property
    def section(self) -> str:
        """Return it as it stands in a policy."""
        return f"## {self.title}\n\n{self.content}"
