"""Escaping: makes text from outside safe to show on a terminal, in markdown or in a line."""

from __future__ import annotations

import re

_KEPT = frozenset("\n\t")
_TAG = re.compile(r"<(?=[a-zA-Z/!?])")


def escape_controls(text: str) -> str:
    """Show control, bidirectional and invisible characters as escapes.

    Agents choose their names and write their errors: a terminal would obey what they put there.
    """
    if text.isprintable():
        return text
    return "".join(
        mark
        if mark.isprintable() or mark in _KEPT
        else mark.encode("unicode_escape", errors="backslashreplace").decode("ascii")
        for mark in text
    )


def escape_markdown(text: str) -> str:
    """Show tags, images, links and control characters instead of rendering them.

    A viewer fetches the images that a text names: an agent whose error names one would learn who
    reads the report, and when. A text that is escaped already comes back unchanged.
    """
    shown = _TAG.sub("&lt;", escape_controls(text))
    return shown.replace("![", "!\\[").replace("](", "]\\(")


def one_line(text: str, most_chars: int) -> str:
    """Put a text on one line, and cut it where it is longer, at a space if there is a late one."""
    line = " ".join(text.split())
    if len(line) <= most_chars:
        return line
    cut = line[:most_chars]
    at_a_space = cut.rpartition(" ")[0]
    return f"{at_a_space if len(at_a_space) > most_chars // 2 else cut} ..."
