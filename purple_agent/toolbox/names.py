"""Names: finds the known name that an unknown one certainly stands for.

Exact matches count first, then equal names after expanding abbreviations, then similar spelling.
Names that differ by opposites, such as `lock` and `unlock`, or by a number never match.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from purple_agent.toolbox.verbs import words_of

MIN_RATIO = 80.0
MIN_LEAD = 10.0
"""The least lead of the nearest name over the next, on the scale of `fuzz.ratio`."""


def _pairs(text: str, sign: str) -> list[tuple[str, str]]:
    halves = (pair.partition(sign) for pair in text.split())
    return [(left, right) for left, _, right in halves]


ALIASES = dict(
    _pairs(
        """
        acct=account addr=address amt=amount cat=category cfg=configuration config=configuration
        curr=currency cust=customer dept=department desc=description dest=destination doc=document
        emp=employee fetch=get identifier=id info=information inv=invoice justification=reason
        lookup=get max=maximum mgr=manager min=minimum modify=update msg=message nbr=number
        num=number org=organization organisation=organization pct=percent prio=priority prod=product
        qty=quantity read=get ref=reference remove=delete req=request retrieve=get search=find
        sev=severity show=get stat=status usr=user view=get
        """,
        "=",
    )
)
"""Synonyms and abbreviations, mapped to one word."""

_OPPOSITES = frozenset(
    frozenset(pair)
    for pair in _pairs(
        """
        accept/reject accept/decline add/delete after/before approve/reject approve/deny buy/sell
        close/open create/delete credit/debit destination/source disable/enable end/start from/to
        get/set give/take grant/revoke hide/show in/out input/output maximum/minimum new/old
        next/previous off/on receive/send start/stop
        """,
        "/",
    )
)
_TURNING = ("un", "de", "dis", "non", "in", "re")


def matching_name(asked: str, known: Iterable[str]) -> str | None:
    """Return the known name that `asked` certainly stands for; None for none or several."""
    names = list(dict.fromkeys(known))
    if asked in names:
        return asked
    meant = spelled(asked)
    same = [name for name in names if spelled(name) == meant]
    if same:
        return same[0] if len(same) == 1 else None
    return _nearest(meant, names)


def _nearest(meant: Sequence[str], names: Sequence[str]) -> str | None:
    # Imported late, so that conversations without a wrong name need no rapidfuzz.
    from rapidfuzz import fuzz

    ranked = sorted(
        ((fuzz.ratio("_".join(meant), "_".join(spelled(name))), name) for name in names),
        key=lambda pair: (-pair[0], pair[1]),
    )
    if not ranked or ranked[0][0] < MIN_RATIO:
        return None
    if len(ranked) > 1 and ranked[0][0] - ranked[1][0] < MIN_LEAD:
        return None
    return None if _opposed(meant, spelled(ranked[0][1])) else ranked[0][1]


def spelled(name: str) -> tuple[str, ...]:
    """Return the words of a name with abbreviations expanded."""
    return tuple(ALIASES.get(word, word) for word in words_of(name))


def _opposed(one: Sequence[str], other: Sequence[str]) -> bool:
    """Tell whether two names differ by opposite words or by a number."""
    left, right = set(one) - set(other), set(other) - set(one)
    if _digits(one) != _digits(other) and _digits(one) and _digits(other):
        return True
    return any(
        frozenset((a, b)) in _OPPOSITES or _turned(a, b) or _turned(b, a)
        for a in left
        for b in right
    )


def _turned(word: str, other: str) -> bool:
    return any(word == prefix + other for prefix in _TURNING)


def _digits(words: Sequence[str]) -> str:
    return "".join(char for word in words for char in word if char.isdigit())
