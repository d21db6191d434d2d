"""printable: text from outside as a terminal may show it."""

from __future__ import annotations

_KEPT = frozenset("\n\t")


def printable(text: str) -> str:
    """The text with control, bidirectional and invisible characters shown as escapes.

    Agents choose their names and write their errors: what a terminal would obey is not passed on.
    """
    if text.isprintable():
        return text
    return "".join(mark if mark.isprintable() or mark in _KEPT else _escaped(mark) for mark in text)


def _escaped(mark: str) -> str:
    return mark.encode("unicode_escape", errors="backslashreplace").decode("ascii")
