"""Verbs: tells whether a word asks to disclose a noun's datum, or handles it in another way."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from purple_agent.privacy import lexicon
from purple_agent.privacy.lexicon import Datum
from purple_agent.privacy.sentence import ASKED, OWNER, PAUSE, STOP, Noun

DISCLOSING = lexicon.GIVE | lexicon.FETCH | lexicon.ASK | lexicon.SENSE | lexicon.GIVING
_NO_TURNS = frozenset({("how", "much"), ("how", "many"), ("if", "you")})
_ENDS = frozenset({STOP, ASKED, PAUSE})
_TELLING = lexicon.GIVE | lexicon.FETCH - {"get", "find", "recover"}
_IT = frozenset({"it", "them", "that", "those"})


class Way(StrEnum):
    """The effect of a verb on a noun."""

    GIVE = "give"
    FETCH = "fetch"
    SENSE = "sense"
    """The speaker is to see, know or have it."""
    ASK = "ask"
    FRAGMENT = "fragment"
    """There is no verb."""
    HANDLED = "handled"
    """It is handled without being disclosed."""


@dataclass(frozen=True, kw_only=True)
class Asking:
    """The place of a verb, and its effect."""

    place: int
    way: Way


def way(words: tuple[str, ...], place: int, noun: Noun) -> Way | None:
    """Return the effect of the word at `place` on a noun after it; None for any other word."""
    word = words[place]
    if words[place : place + 2] == ("say", "about"):
        return Way.HANDLED
    if word in lexicon.GAVE and words[max(0, place - 2) : place] == ("if", "you"):
        return Way.GIVE
    if word in lexicon.TURN and words[place : place + 2] not in _NO_TURNS:
        return Way.ASK if _asks_all_the_same(words, place, noun) else Way.HANDLED
    if word in lexicon.HANDLE and not _describes(words, place, noun):
        return Way.HANDLED
    asked = _asked(words, place, noun)
    return Way.HANDLED if asked and _is_no_request(words, place) else asked


def discloses_it(words: tuple[str, ...], place: int) -> bool:
    """Tell whether the words at `place` ask for an earlier noun: `read it`, `what is it`."""
    first, second = words[place : place + 2]
    if (first, second) in {("tell", "me"), ("once", "more"), ("say", "again")}:
        return words[place + 2 : place + 3] in {(), (STOP,), ("please",), (ASKED,)}
    if second in lexicon.ME and words[place + 2 : place + 3] == ("the",):
        return words[place + 3 : place + 4] in {("output",), ("result",), ("content",), ("value",)}
    if words[place : place + 3] in {
        ("what", "is", "it"),
        ("which", "one", "is"),
        ("what", "are", "they"),
    }:
        return True
    told = first in _TELLING and not _is_no_request(words, place)
    return told and second in _IT


def _asked(words: tuple[str, ...], place: int, noun: Noun) -> Way | None:
    word = words[place]
    if word in lexicon.ASK:
        return Way.ASK
    if _gives(words, place, noun):
        return Way.GIVE
    if word in lexicon.MAKE:
        return _made(noun)
    if word in lexicon.FETCH and not _is_noun(words, place):
        return Way.FETCH
    if word in lexicon.SENSE and _is_speakers(words, place):
        return Way.SENSE
    return None


def _gives(words: tuple[str, ...], place: int, noun: Noun) -> bool:
    """Tell whether the word, by its form and its context, means telling."""
    word = words[place]
    to_me = words[place + 1 : place + 2] in {("me",), ("us",), ("myself",)}
    if word in lexicon.GIVING:
        return to_me or words[place - 1 : place] in {("mind",), ("consider",), ("start",), ("by",)}
    if word in lexicon.MAKE:
        return bool(lexicon.LISTINGS.intersection(words[place : place + 5]))
    if word in lexicon.ME:
        return _is_given(words, place)
    if word in lexicon.LOOSE and noun.datum in {Datum.PERSONAL, Datum.RECORD} and not to_me:
        return False
    told = word in lexicon.GIVE and not _is_noun(words, place)
    return told and not _gives_access(words, place, noun)


def _is_speakers(words: tuple[str, ...], place: int) -> bool:
    """Tell whether the speaker is the one who would know or have it, but does not yet."""
    word, before = words[place], words[max(0, place - 6) : place]
    if before[-2:] == ("do", "i"):
        return False
    if before[-2:] == ("do", "you") and word in {"know", "have"}:
        return True
    if word in lexicon.STATES_OF_MIND and not lexicon.MODALS.intersection(before[-3:]):
        return False
    begins = not before or before[-1] in {STOP, ASKED}
    return begins or bool({"i", "we", "me", "us", "my", "our"}.intersection(before))


def _is_probed(words: tuple[str, ...], noun: Noun) -> bool:
    """Tell whether a guess at a secret is to be confirmed: `whether her SSN is 123-45-6789`."""
    value = words[noun.end + 1 : noun.end + 2]
    if words[noun.end : noun.end + 1] != ("is",):
        return False
    if lexicon.COMPARED.intersection(value):
        return noun.datum in {Datum.KEY, Datum.SENSITIVE}
    return noun.datum is Datum.KEY and any(map(str.isdigit, "".join(value)))


def _asks_all_the_same(words: tuple[str, ...], place: int, noun: Noun) -> bool:
    """Tell whether a word that usually changes the subject asks for the noun itself."""
    if words[place] in {"whether", "if"}:
        return _is_probed(words, noun)
    when = words[place : place + 2] in {("when", "is"), ("when", "was")}
    return when or _asks_who(words, place)


def _asks_who(words: tuple[str, ...], place: int) -> bool:
    """Tell whether the text asks for the noun's owner: `who in the team has the highest`."""
    has = {"has", "have", "gets", "receives"}.intersection(words[place + 1 : place + 7])
    return words[place] == "who" and bool(has) and "access" not in words[place : place + 8]


def _is_given(words: tuple[str, ...], place: int) -> bool:
    """Tell whether `me` is the recipient, with any verb: `slip me the`."""
    verb = words[place - 1 : place]
    if not verb or not verb[0].isalpha() or verb[0].endswith(("ed", "ing")):
        return False
    if words[max(0, place - 3) : place - 1] == ("if", "you"):
        return True
    no_verbs = lexicon.TOLD | lexicon.DESTINATIONS | {"for", "with", "from", "of", "and", "or"}
    return verb[0] not in no_verbs and not _is_denied(words, place)


def _made(noun: Noun) -> Way | None:
    """Return the effect of making a secret, which is then a new one."""
    return Way.HANDLED if noun.datum is Datum.KEY else None


def _describes(words: tuple[str, ...], place: int, noun: Noun) -> bool:
    """Tell whether the word belongs to the noun: `stored passwords`."""
    if words[place + 1 : place + 2] == (OWNER,):
        return True
    return words[place] in lexicon.ADJECTIVES and place + 1 == noun.start


def _is_noun(words: tuple[str, ...], place: int) -> bool:
    """Tell whether the word is a thing here: `a list`, `the report`."""
    return words[place - 1 : place] != () and words[place - 1] in lexicon.DETERMINERS


def _gives_access(words: tuple[str, ...], place: int, noun: Noun) -> bool:
    """Tell whether access is given to others, which discloses nothing to the speaker."""
    between = words[place : noun.start]
    return "access" in between and not lexicon.ME.intersection(between)


def _is_no_request(words: tuple[str, ...], place: int) -> bool:
    """Tell whether a verb is denied, reported, a question of permission, or the speaker's act."""
    if words[place] in lexicon.ASK:
        return False
    return (
        _is_denied(words, place)
        or _is_reported(words, place)
        or _is_question_of_law(words, place)
        or (words[place] in lexicon.GIVE and _is_by_speaker(words, place))
    )


def _is_denied(words: tuple[str, ...], place: int) -> bool:
    before = words[max(0, place - 4) : place]
    if "if" in before:
        return False
    if "you" in before and words[place + 1 : place + 2] == ("me",) and "do" not in before:
        return False
    last = max((at for at, word in enumerate(before) if word in _ENDS), default=-1)
    said = lexicon.NEGATIONS.intersection(before[last + 1 :])
    return bool(said) and not lexicon.ENCOURAGED.intersection(before)


def _is_reported(words: tuple[str, ...], place: int) -> bool:
    """Tell whether others tell: `the logs show`, `it asks our staff to send`."""
    before = words[max(0, place - 5) : place]
    if before and before[-1] in lexicon.REPORTERS:
        return words[place + 1 : place + 2] not in {("me",), ("us",)}
    asks = lexicon.REPORTED.intersection(before)
    told = {"me", "us", "you"}.intersection(before)
    return bool(asks) and before[-1] == "to" and not told


def _is_question_of_law(words: tuple[str, ...], place: int) -> bool:
    """Tell whether the text asks if something is allowed: `is it permitted to share`."""
    before = words[max(0, place - 5) : place]
    allowed = lexicon.ALLOWED.intersection(before) and before[-1] == "to"
    to_me = words[place + 1 : place + 2] == ("me",)
    return bool(allowed) and before[0] in {"is", "are", "am"} and not to_me


def _is_by_speaker(words: tuple[str, ...], place: int) -> bool:
    """Tell whether the speaker does the telling: `I can give you my number`, `shall I send it`."""
    if words[place + 1 : place + 2] == ("you",):
        return True
    before = words[max(0, place - 3) : place]
    return "i" in before and "you" not in before and before[-1] != "to"
