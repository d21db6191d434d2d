"""Words of texts and queries, brought to one form: lower case, stemmed, one word for synonyms.

General English and the vocabulary of customer service; nothing here comes from a list of requests
or from the tasks of a benchmark.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

WORD: Final = re.compile(r"[^\W_]+(?:['\u2019-][^\W_]+)*")
"""A word; underscores divide the names of tools, hyphens hold `t-shirt` together."""

_FUNCTION_WORDS = """
    a an and any are aren't as at be been before being but by can can't cannot could did didn't
    do does doesn't doing don't done each either for from get gets getting got had has have
    having he her hers him his how i if in into is isn't it its just like may me might more most
    must my no nor not of off on only or other our ours out over own per please shall she should
    so some such than that the their theirs them then there these they this those through to too
    under up upon us very via was wasn't we were what when where whether which while who whom
    whose why will with within without won't would you your yours
"""
_FORM_WORDS = """
    about agent agents all anything appear appears around ask asked asking asks call caller
    calls case cases check checking checks client clients come comes concern concerning concerns
    conversation conversations cover covering covers customer customers deal dealing deals
    demand demanded demanding demands do entire every everything exercise exercises feature
    features featuring focus focused focuses handle handles handling include includes including
    involve involved involves involving issue issues kind kinds matter matters mention mentioned
    mentioning mentions need needing needs occur occurs one ones people person play played
    playing plays problem problems question questions regarding relate related relates relating
    request requested requesting requests role roles say saying says scenario scenarios
    situation situations somebody someone something sort sorts subject talk talking talks task
    tasks tell telling tells test testing tests thing things topic topics touch touches touching
    tries trouble try trying type types user users want wanted wanting wants whoever wish wishes
"""
_FILLERS: Final = frozenset((_FUNCTION_WORDS + _FORM_WORDS).split())

_POSSESSIVE: Final = re.compile("['\u2019]s$")
_APOSTROPHES: Final = re.compile("['\u2019]")
_SHORT: Final = re.compile("[^aeiouy]*[aeiouy][^aeiouywx]")
"""One syllable that ends in one consonant: as the rest of a verb it has lost its e."""
SYNONYMS: Final = tuple(
    tuple(line.split())
    for line in """
    cancel cancellation cancelation
    baggage bag luggage suitcase
    refund reimburse reimbursement
    change modify modification update edit alter amend
    exchange swap
    replace replacement
    return
    compensation compensate
    upgrade
    address
    passenger traveler traveller
    flight fly
    delay late
    reservation reserve
    insurance insure
    purchase buy bought
    pay payment paid
    bill invoice
    phone smartphone cellphone
    cheap cheapest inexpensive
    expensive costly
    transfer escalate escalation handover
    usage use used allowance quota
    deliver delivery ship shipping shipment
    certificate voucher coupon
    complain complaint
    mistake accident accidentally mistakenly
    broken damage damaged defective faulty broke
    shoe sneaker
    picture photo image
    internet web
    deny denial refuse refusal reject rejection decline
    approve approval
    employee staff
    delete remove deletion removal
    create creation
    sick ill illness sickness
    trip travel journey
    plane aircraft airplane aeroplane
    laptop notebook
    tv television
    sofa couch
    permission permit
    verify verification
    buyer purchaser
    overdue unpaid
    lock locked
""".strip().splitlines()
)
"""Groups of words that mean the same."""


def stem(word: str) -> str:
    """Return the stem of a lower-case word: endings of plurals and verbs are taken off."""
    if len(word) <= 3 or not word.isascii() or not word.isalpha():
        return word
    rest = _without_verb_ending(_singular(word))
    # `change` and `changing` share `chang`; short words keep their e: `plane` is not `plan`.
    return rest[:-1] if len(rest) > 5 and rest.endswith("e") else rest


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes", "zzes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _without_verb_ending(word: str) -> str:
    if word.endswith("ied") and len(word) > 4:
        return word[:-3] + "y"
    for ending in ("ing", "ed"):
        rest = word.removesuffix(ending)
        if rest != word and len(rest) >= 3 and re.search("[aeiouy]", rest):
            if len(rest) > 3 and rest[-1] == rest[-2] and rest[-1] not in "sz":
                return rest[:-1]  # shipped, cancelled
            return f"{rest}e" if _SHORT.fullmatch(rest) else rest  # moved
    return word


_CANON: Final = {stem(word): stem(group[0]) for group in SYNONYMS for word in group}


@lru_cache(maxsize=50_000)
def normal_form(word: str) -> str:
    """Return the form in which a word is compared: the stem, or that of its group of synonyms."""
    plain = stem(_APOSTROPHES.sub("", _POSSESSIVE.sub("", word.casefold())))
    return _CANON.get(plain, plain)


def parts_of(word: str) -> tuple[str, ...]:
    """Return the normal forms of the parts of a word with hyphens; one form of other words."""
    return tuple(normal_form(part) for part in word.split("-") if part)


def forms(word: str) -> tuple[str, ...]:
    """Return the forms under which a text's word is found: its parts, and all of it as one."""
    parts = parts_of(word)
    return parts if len(parts) < 2 else (*parts, joined(word))


def joined(*words: str) -> str:
    """Return the normal form of several words, or of one with hyphens, written as one."""
    return normal_form("".join(words).replace("-", ""))


def is_filler(word: str) -> bool:
    """Tell whether a word says nothing about what a task is about."""
    return word.casefold().replace("\u2019", "'") in _FILLERS
