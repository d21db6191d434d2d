"""Texts and figures as the page shows them."""

from __future__ import annotations

from adk_agent.core.escaping import escape_controls

_SPACES = str.maketrans(
    {"\u00a0": " ", "\u202f": " ", "\u2007": " ", "\u2028": "\n", "\u2029": "\n"}
)
NONE = "–"


def plain(text: str) -> str:
    """Text from outside without control, bidirectional and invisible characters.

    Line ends and special spaces become plain ones; what else cannot be seen becomes an escape.
    """
    if text.isprintable():
        return text
    shown = text.replace("\r\n", "\n")
    if not shown.isascii():
        shown = shown.translate(_SPACES)
    if shown.replace("\n", " ").replace("\t", " ").isprintable():
        return shown  # most texts: looking at every character takes ten times as long
    return escape_controls(shown)


def clipped(text: str, most: int) -> str:
    """Return the text, or its first `most` characters and how many there were."""
    if len(text) <= most:
        return text
    return f"{text[:most]} … [{len(text):,} characters in all; the rest is in trials.jsonl]"


def short(text: str, most: int) -> str:
    """Return the text on one line, cut in its middle where it is longer than `most`."""
    line = " ".join(text.split())
    if len(line) <= most:
        return line
    head = (most - 1) // 2
    return f"{line[:head]}…{line[len(line) - (most - 1 - head) :]}"


def score(value: float | None, *, signed: bool = False) -> str:
    """Return a score with three digits; a dash where there is none."""
    if value is None:
        return NONE
    return f"{value:+.3f}" if signed else f"{value:.3f}"


def interval(low: float, high: float, *, signed: bool = False) -> str:
    """Both ends of an interval, with two digits."""
    sign = "+" if signed else ""
    return f"{low:{sign}.2f} to {high:{sign}.2f}"


def duration(ms: float | None) -> str:
    """Milliseconds in the unit that suits them, with three digits or so."""
    if ms is None:
        return NONE
    if ms < 0.95:
        return f"{ms:.2g} ms"
    if ms < 999.5:
        return f"{ms:.0f} ms"
    if ms < 99_950:
        return f"{ms / 1000:.1f} s"
    return f"{ms / 60_000:.1f} min"


def rounded(number: int) -> str:
    """Return a large number with three digits or so, such as 1.2k."""
    if number < 1_000:
        return str(number)
    for unit, name in ((1_000, "k"), (1_000_000, "M"), (1_000_000_000, "G")):
        if number < 999.5 * unit:
            return f"{number / unit:.3g}{name}"
    return f"{number / 1_000_000_000:,.0f}G"


def dollars(cost: float | None) -> str:
    """Return a cost in US dollars; a dash where it is unknown."""
    if cost is None:
        return NONE
    return f"${cost:,.2f}" if cost >= 1 or cost == 0 else f"${cost:.4f}"


def count(number: int, one: str, several: str | None = None) -> str:
    """Return a number with its noun."""
    return f"{number:,} {one if number == 1 else several or one + 's'}"


def listed(parts: list[str]) -> str:
    """Words as a sentence lists them."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
