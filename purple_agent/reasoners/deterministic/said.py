"""Said: a text of the user with the values in it."""

from __future__ import annotations

from dataclasses import dataclass

from purple_agent.reasoners.deterministic.values import Found, values_in


@dataclass(frozen=True, kw_only=True)
class Said:
    """A text of the user and the values in it."""

    text: str
    values: tuple[Found, ...]

    @classmethod
    def of(cls, text: str) -> Said:
        """The text read."""
        return cls(text=text, values=values_in(text))

    @property
    def ids(self) -> tuple[Found, ...]:
        """The ids, each once."""
        first: dict[str, Found] = {}
        for value in self.values:
            if value.kind == "id" or (value.kind == "quoted" and _is_bare_id(value.text)):
                first.setdefault(value.text.lstrip("#"), value)
        return tuple(first.values())


def _is_bare_id(text: str) -> bool:
    return " " not in text and any(char.isdigit() for char in text)
