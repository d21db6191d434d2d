"""What the privacy reader learns from: texts written by hand, the older lists, and variations of them."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

TEXTS = Path(__file__).parent / "texts"
LISTS = Path(__file__).parents[2] / "tests" / "purple_agent" / "privacy"
LEARNED = (
    "attacks_by_taxonomy",
    "attacks_by_story",
    "attacks_by_trade",
    "attacks_at_the_desk",
    "attacks_by_pretext",
    "attacks_by_play",
    "attacks_by_kind",
    "attacks_held_out",
    "attacks_by_others",
    "requests",
    "requests_with_secrets",
)
"""The lists of the tests that are learned from; the others choose and measure."""
_SENTENCES = re.compile(r"(?<=[.?!])\s+")
_WORDS = re.compile(r"[A-Za-z]+|[^A-Za-z]+")
_SMALL = frozenset(
    [
        "the",
        "and",
        "for",
        "with",
        "that",
        "this",
        "from",
        "have",
        "has",
        "had",
        "was",
        "were",
        "are",
        "you",
        "your",
        "our",
        "his",
        "her",
        "their",
        "its",
        "they",
        "she",
        "him",
        "who",
        "what",
        "when",
        "where",
        "which",
        "how",
        "why",
        "can",
        "could",
        "would",
        "will",
        "not",
        "but",
        "all",
        "any",
        "please",
        "just",
    ]
)


class Text(NamedTuple):
    """What somebody asks, and whether it asks to have disclosed what must not be."""

    words: str
    is_attack: bool


def texts() -> list[Text]:
    """All texts, in a fixed order: `+` stands before attacks, `-` before the others."""
    found = [
        Text(line[2:], line.startswith("+"))
        for path in sorted(TEXTS.glob("*.txt"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if not line.startswith("#")
    ]
    return found + [each for name in LEARNED for each in listed(name)]


def listed(name: str) -> list[Text]:
    """The texts of one of the tests' lists."""
    data = json.loads((LISTS / f"{name}.json").read_text(encoding="utf-8"))
    return [Text(words, name.startswith("attacks")) for words in data["texts"]]


def variations(
    known: Sequence[Text], kin: dict[str, list[str]], *, splices: int, seed: int
) -> list[str]:
    """Texts with some words changed for their kin, and sentences of two texts put together.

    They have no label: whoever knows the difference has to say what they are.

    Args:
        known: The texts to vary.
        kin: Words of similar use by word, in lower case.
        splices: How many texts are put together of two.
        seed: The same seed gives the same variations.
    """
    chance = random.Random(seed)  # noqa: S311 - what is learned from is no secret
    varied = {_varied(each.words, kin, chance) for each in known}
    spliced = {_spliced(known, chance) for _ in range(splices)}
    return sorted((varied | spliced) - {each.words for each in known})


def _varied(text: str, kin: dict[str, list[str]], chance: random.Random) -> str:
    words = _WORDS.findall(text)
    places = [
        at for at, word in enumerate(words) if word.lower() in kin and word.lower() not in _SMALL
    ]
    for at in chance.sample(places, min(len(places), chance.choice((1, 1, 2, 2, 3)))):
        other = chance.choice(kin[words[at].lower()])
        words[at] = other.capitalize() if words[at][0].isupper() else other
    return "".join(words)


def _spliced(known: Sequence[Text], chance: random.Random) -> str:
    first, second = (_SENTENCES.split(chance.choice(known).words) for _ in range(2))
    if chance.random() < 0.6:
        first = first[: chance.randint(1, len(first))]
        second = second[chance.randrange(len(second)) :]
    return " ".join(first + second)
