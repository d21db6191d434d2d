"""Domains: the names of domains in a sentence, misspelled and unknown ones too."""

from __future__ import annotations

import re

from adk_agent.requests.reading.refusal import Refusal
from adk_agent.requests.reading.words import (
    DOMAINS,
    TASK_NOUN,
    alternatives,
    did_you_mean,
    repaired,
    words,
)

_DOMAIN = alternatives(DOMAINS)
_WORD = re.compile(r"(?<![\w/.\-])[a-z]+(?![\w/])")
_SPELLINGS = re.compile(r"\bair[\s-]lines?\b|\b(airline|retail|telecom)(?:s|'s)\b")

_BENIGN = frozenset(
    words(
        "the a an all any each every both these those this that my our your their its his "
        "same other more most some few first last next following above below new old "
        "simple single different various many several much enough of and or for in on "
        "with to per number benchmark tau tau2 bench base test train full small gold "
        "evaluation actual real such which what no max num n numeric only just play run "
        "evaluate do try using use assign selected chosen given listed remaining total "
        "default official standard quick typical sample example it as whole entire "
        "complete domain agent agents if when them at from exactly about task tasks id "
        "ids s is are mine multi turn problem problems whatever known own available "
        "corresponding available these its be by test-case easy hard wise across within "
        "specific"
    )
)
_NOUN_OF_DOMAIN = re.compile(
    rf"\b(?P<word>[^\W\d_][\w-]*)\s+(?P<noun>domains?|{TASK_NOUN}|benchmarks?|suite)\b"
    rf"(?!\s+(?:of|from|in|on)\s+(?:the\s+)?{_DOMAIN})"
)
_KEYED_DOMAINS = re.compile(r"\bdomains?\s*[:=]\s*(?P<list>[^\n;.]+)")
_ON_SOMETHING = re.compile(r"\b(?:on|in|from)\s+(?:the\s+)?([^\W\d_]{3,})\s*(?:[.,;!?\n]|$)")


def with_known_domains(text: str) -> tuple[str, list[str]]:
    """The lower-case text with misspelled domains corrected, and a warning for each.

    Raises:
        Refusal: `unknown-domain`.
    """
    warnings: list[str] = []

    def correct(match: re.Match[str]) -> str:
        word = match[0]
        if word in DOMAINS:
            return word
        meant = repaired(word, DOMAINS)
        if meant is None:
            return word
        warnings.append(f"{word!r} was read as the domain {meant!r}")
        return meant

    text = _SPELLINGS.sub(lambda match: match[1] or "airline", text)
    text = _WORD.sub(correct, text)
    return text, warnings


def refuse_unknown_domains(text: str) -> None:
    """Refuses words that stand where a domain would, and are none.

    Raises:
        Refusal: `unknown-domain`.
    """
    for match in _KEYED_DOMAINS.finditer(text):
        for word in re.findall(r"[^\W\d_]+", match["list"])[:1]:
            if word not in DOMAINS and word not in _BENIGN:
                raise _unknown_domain(word)
    for match in _NOUN_OF_DOMAIN.finditer(text):
        word = match["word"]
        before = text[: match.start()].split()
        if word.startswith(("tau", "τ")):
            continue
        described = bool(before) and before[-1] in DOMAINS and match["noun"] not in {"domain"}
        if word not in DOMAINS and word not in _BENIGN and not described:
            raise _unknown_domain(word)


def no_domain(text: str) -> Refusal:
    """The refusal of a request without a domain; it names a word that seems to be meant as one."""
    match = _ON_SOMETHING.search(text)
    if match and match[1] not in _BENIGN and match[1] not in DOMAINS:
        return _unknown_domain(match[1])
    return Refusal(
        "no-domain",
        "no domain is named to play tasks of: write for example 'on five airline tasks' "
        f"(domains: {', '.join(DOMAINS)})",
    )


def _unknown_domain(word: str) -> Refusal:
    return Refusal("unknown-domain", f"unknown domain {word!r}: {did_you_mean(word, DOMAINS)}")
