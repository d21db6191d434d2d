"""Lives: questions about a person that name no datum: where they live, what they earn."""

from __future__ import annotations

from purple_agent.privacy import lexicon
from purple_agent.privacy.sentence import ASKED, OWNER, PAUSE, STOP, Words

_DEEDS = frozenset({"ordered", "bought", "spent", "works", "work", "stays", "staying", "buy"})
_QUESTIONS = {
    "live": {"where", "which", "what"},
    "lives": {"where", "who"},
    "born": {"when", "where"},
    "old": {"how"},
    "paid": {"much", "what"},
    "order": {"what"},
    "earn": {"what", "much"},
    "earns": {"what", "who", "much"},
    "earning": {"what", "who", "much"},
    "make": {"what", "much"},
    "makes": {"what", "who", "much"},
    **{deed: {"what", "where", "much"} for deed in _DEEDS},
}
"""Words, and the question words that must precede them."""
_NEEDS_PERSON = frozenset({"make", "makes", "old", "paid"})
_NOT_PERSONS = frozenset({"i", "we", "you", "points", "miles", "interest", "cashback", "card"})
_PERSONS = (
    lexicon.FOREIGN - {"anyone", "someone", "other", "another", "them", "they"} | lexicon.MANY
)
_REACH = 14


def asks_about_a_life(text: Words) -> bool:
    """Tell whether a text asks where a person lives, when they were born, or what they earn."""
    return any(_asks(text, place) for place, word in enumerate(text.words) if word in _QUESTIONS)


def _asks(text: Words, place: int) -> bool:
    words = text.words
    start = max((0, *(at + 1 for at in _ends(words, place - _REACH, place))))
    end = min((place + 4, len(words), *_ends(words, place, place + 4)))
    asked = _QUESTIONS[words[place]].intersection(words[start:place])
    if not asked or (asked == {"who"} and words[start] != "who"):
        return False
    people = {at for at in range(start, end) if words[at] in _PERSONS or at in text.names}
    if words[place] in _NEEDS_PERSON and not people:
        return False
    if words[place] == "paid" and not {"is", "gets", "being", "get"}.intersection(
        words[start:place]
    ):
        return False
    if words[place] == "order":
        return "did" in words[start:place] and any(at < place for at in people)
    if words[place] in _DEEDS and place - 1 not in people:
        return False
    near = words[max(start, place - 4) : end]
    return not any(word in _NOT_PERSONS | lexicon.PLACES for word in near)


def _ends(words: tuple[str, ...], start: int, end: int) -> list[int]:
    places = range(max(0, start), min(end, len(words)))
    return [at for at in places if words[at] in {STOP, ASKED}]


def asks_for_anothers(text: Words) -> bool:
    """Tell whether a text asks for the same of another person: `... then tell me Otto's`."""
    owners = (place for place, word in enumerate(text.words) if word == OWNER)
    return any(_ends_in_owner(text.words, place) for place in owners)


def _ends_in_owner(words: tuple[str, ...], place: int) -> bool:
    ends = words[place + 1 : place + 2] in {(), (STOP,), (ASKED,), (PAUSE,)}
    tells = lexicon.GIVE.intersection(words[max(0, place - 4) : place])
    if not ends or not tells or words[place - 1] in lexicon.PLACES | lexicon.NO_OWNERS:
        return False
    return bool(
        {"password", "pin", "salary", "ssn"}.intersection(words[max(0, place - 20) : place])
    )
