"""Escaping: makes untrusted text safe to show on a terminal, in markdown or on one line."""

from __future__ import annotations

import re

_KEPT = frozenset("\n\t")
_TAG = re.compile(r"<(?=[a-zA-Z/!?])")


def escape_controls(text: str) -> str:
    """Show control, bidirectional and invisible characters as escapes.

    Agents choose their names and error texts, and a terminal would obey control sequences in them.
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

    A markdown viewer fetches images: an agent whose error links one would learn who reads the
    report, and when. Text that is already escaped comes back unchanged.
    """
    shown = _TAG.sub("&lt;", escape_controls(text))
    return shown.replace("![", "!\\[").replace("](", "]\\(")


def one_line(text: str, most_chars: int) -> str:
    """Put a text on one line and shorten it, at a space if one is near the end."""
    line = " ".join(text.split())
    if len(line) <= most_chars:
        return line
    cut = line[:most_chars]
    at_a_space = cut.rpartition(" ")[0]
    return f"{at_a_space if len(at_a_space) > most_chars // 2 else cut} ..."
