"""A cue from what a reply adds to what it was asked for. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from evals.attribution.signs import RARE, STEM, STOP_WORDS, Found, excerpt_of
from evals.attribution.turns import Log
from evals.attribution.values import MAX_CHARS, numbers_in, words_of

# Words with which something is added, in English, German, Spanish and French.
_ADDS = re.compile(
    r"\b(?:also|extra|additional(?:ly)?|in addition|on top|as well|includ(?:es?|ing)|"
    r"count(?:ed|ing)(?: in)?|factor(?:ed|ing) in|added|with \d+ for|surcharge|allowance|reserved?|contingency|besides|"
    r"zus(?:ä|ae)tzlich\w*|zuz(?:ü|ue)glich|inklusive|inkl|enthalten|eingerechnet|au(?:ß|ss)erdem|"
    r"m[áa]s \d+|contando|darunter|mitgerechnet|incluye\w*|incluid[oa]s?|adicional(?:es)?|adem[áa]s|extras?|"
    r"inclus(?:e|es)?|compris(?:e|es)?|suppl[ée]mentaires?|en plus|y compris)\b",
    re.IGNORECASE,
)
_COUNT = re.compile(
    r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|zwei|drei|vier|f[üu]nf|sechs|sieben|"
    r"acht|neun|zehn|elf|zw[öo]lf|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|deux|trois|quatre|cinq|sept|"
    r"huit|neuf|dix)\b",
    re.IGNORECASE,
)
# Words with which a figure is given a purpose or a reason of its own.
_PURPOSE = re.compile(
    r"\b(?:for|because|since|due|aside|of (?:them|those|these|that|it|which)|f[üu]r|wegen|davon|pour|dont|para|por)\b",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"(?<=[.!?;,}])\s+|[()\n]|\s[-–—]\s")
MOST_WORDS = 60
"""Words up to which a reply holds what it was asked for, and what it adds stands out."""
_DIGITS = re.compile(r"\d[\d.,]*")


def unasked(log: Log) -> Iterator[Found]:
    """Find turns that add a figure for something of which nobody had spoken, unlike most turns."""
    known: set[str] = set()
    found: list[Found] = []
    own = 0
    for at, turn in enumerate(log.turns):
        if turn.is_own and turn.kind != "request":
            own += 1
            is_short = len(turn.text.split()) <= MOST_WORDS
            added = _addition(turn.text, known) if is_short else None
            if added is not None:
                clause, strange = added
                found.append(
                    Found(
                        at=at,
                        strength=1.0,
                        reason=f"{turn.agent} adds something of which nobody had spoken "
                        f"({', '.join(strange[:3])}).",
                        excerpt=excerpt_of(clause),
                    )
                )
        known |= _stems(turn.text)
    # Whoever is led reads pages to the leader: what they add is not made up.
    if log.leader is None and len(found) <= max(1, RARE * own):
        yield from found


def _addition(text: str, known: set[str]) -> tuple[str, list[str]] | None:
    """Return the clause of a text that adds a figure to another, and its words that are not known."""
    if not numbers_in(text) or len(_COUNT.findall(_DIGITS.sub("1", text[:MAX_CHARS]))) < 2:
        return None
    has_figure = False
    for clause in _CLAUSE.split(text[:MAX_CHARS]):
        if not _COUNT.search(clause):
            continue
        words = dict.fromkeys(words_of(_ADDS.sub(" ", clause)))
        strange = [
            word
            for word in words
            if len(word) >= STEM and word.isalpha() and word[:STEM] not in known
        ]
        strange = [word for word in strange if word not in STOP_WORDS]
        marked = _ADDS.search(clause) is not None
        if strange and (
            marked or (has_figure and len(strange) > 1 and _PURPOSE.search(clause) is not None)
        ):
            return clause, strange
        has_figure = True
    return None


def _stems(text: str) -> set[str]:
    return {word[:STEM] for word in words_of(text)}
