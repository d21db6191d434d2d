"""Words: their stems, and the kinds of act that verbs ask for."""

from __future__ import annotations

import re
from typing import Final

from purple_agent.toolbox.verbs import word_set

_WORD: Final = re.compile(r"[^\W_]+(?:'[a-z]+)?")
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_ENDINGS: Final = (
    *("ations", "ation", "ments", "ment", "ings", "ing", "ions", "ion", "als", "al"),
    *("ied", "ies", "ed", "es", "s", "e", "y"),
)
_SHORTEST_STEM: Final = 3

# Each line holds verbs that ask for the same kind of act; a verb may ask for several kinds.
_SAME_ACT: Final = """
create make add open new register submit place draft generate raise file start log
update change modify edit mark set adjust correct amend alter put move
delete remove erase drop purge wipe
cancel void abort withdraw
approve authorize authorise accept okay greenlight sign clear
reject deny decline refuse
pay paid reimburse settle disburse payout release
refund reimburse repay credit
send sent email notify message inform forward mail dispatch alert page
close resolve finish conclude
complete finish done finalize finalise
assign allocate give delegate route
revoke disable deactivate remove suspend lock terminate withdraw
enable activate restore reactivate unlock resume
grant give provide provision issue award apply credit
return
exchange swap replace
order buy bought purchase procure acquire
schedule plan book arrange
verify validate confirm check
match reconcile link
record log note document register capture
flag mark report
restart reboot
onboard register enrol enroll create
offboard terminate
ship dispatch deliver
extend prolong postpone
hold freeze pause block
write post
upgrade
downgrade
collect
request ask
transfer move
"""


_PHRASES: Final = (
    (re.compile(r"\bset(?:ting)?[ -]up\b", re.I), "create"),
    (re.compile(r"\bsign(?:ing|ed)?[ -]off(?: on)?\b", re.I), "approve"),
    (re.compile(r"\bcall(?:ing|ed)? off\b", re.I), "cancel"),
    (re.compile(r"\bget(?:ting)? rid of\b", re.I), "delete"),
    (re.compile(r"\bturn(?:ing|ed)? down\b", re.I), "reject"),
)


def unphrased(text: str) -> str:
    """Return a text with verbs of several words put in one: "set up" becomes "create"."""
    for phrase, verb in _PHRASES:
        text = phrase.sub(verb, text)
    return text


def words_in(text: str) -> tuple[str, ...]:
    """Return the words of a text, or of a name such as `get_expense`, in lower case."""
    return tuple(_WORD.findall(_HUMP.sub("_", text).lower()))


def stem(word: str) -> str:
    """Return a word without its usual endings; rough, but equal for `approve` and `approval`."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            rest = word[: -len(ending)]
            # `cancell` is `cancel`, and `shipp` is `ship`.
            doubled = len(rest) > _SHORTEST_STEM and rest[-1] == rest[-2]
            return rest[:-1] if doubled else rest
    return word


def stems(text: str) -> tuple[str, ...]:
    """Return the stems of the words of a text in order."""
    return tuple(map(stem, words_in(unphrased(text))))


def _acts_by_stem() -> dict[str, frozenset[int]]:
    found: dict[str, set[int]] = {}
    for number, line in enumerate(_SAME_ACT.split("\n")):
        for word in line.split():
            found.setdefault(stem(word), set()).add(number)
    return {word: frozenset(numbers) for word, numbers in found.items()}


_ACTS: Final = _acts_by_stem()
LIGHT: Final = frozenset(
    map(
        stem,
        word_set(
            "create make issue submit place apply give perform do process send start request "
            "raise open record log add file post"
        ),
    )
)
"""Stems of verbs that say little beside their noun: `issue_refund` refunds."""


def acts_of(stemmed: str) -> frozenset[int]:
    """Return the kinds of act that a stemmed verb may ask for; empty for any other word."""
    return _ACTS.get(stemmed, frozenset())
