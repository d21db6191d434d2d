"""Domains: finds the names of domains in a sentence, including misspelled and unknown ones."""

from __future__ import annotations

import re

from adk_agent.requests.reading.vocabulary import Vocabulary
from adk_agent.requests.reading.words import did_you_mean, repaired, words
from adk_agent.requests.refusal import Refusal
from tau_bridge.benchmarks import wrong_benchmark
from tau_bridge.wording import TASK_NOUN

_WORD = re.compile(r"(?<![\w/.\-])[a-z]+(?![\w/])")
_BENIGN = frozenset(
    words(
        "the a an all any each every both these those this that my our your their its his "
        "same other more most some few first last next following above below new old "
        "simple single different various many several much enough of and or for in on "
        "with to per number benchmark bench base test train full small gold "
        "evaluation actual real such which what no max num n numeric only just play run "
        "evaluate do try using use assign selected chosen given listed remaining total "
        "default official standard quick typical sample example it as whole entire "
        "complete domain agent agents if when them at from exactly about task tasks id "
        "ids s is are mine multi turn problem problems whatever known own available "
        "corresponding available these its be by test-case easy hard wise across within "
        "specific"
    )
)
_KEYED_DOMAINS = re.compile(r"\bdomains?\s*[:=]\s*(?P<list>[^\n;.]+)")
_ON_SOMETHING = re.compile(r"\b(?:on|in|from)\s+(?:the\s+)?([^\W\d_]{3,})\s*(?:[.,;!?\n]|$)")
_NOUN_OF_DOMAIN = (
    rf"\b(?P<word>[^\W\d_][\w-]*)\s+(?P<noun>domains?|{TASK_NOUN}|benchmarks?|suite)\b"
    r"(?!\s+(?:of|from|in|on)\s+(?:the\s+)?DOMAIN)"
)
_OF_BENCHMARK = re.compile(r"(?<![\w/.:@\-])(?P<name>[^\W\d_][\w-]*)/(?P<domain>[^\W\d_][\w-]*)")
_FIRST_NAME = r"NAME(?!\w)|[^\W\d_]+"


def with_known_domains(text: str, vocabulary: Vocabulary) -> tuple[str, list[str]]:
    """Reword a lower-case text with the vocabulary's names; return it and a warning per correction.

    Raises:
        Refusal: `bad-number` or `ambiguous`, by the benchmarks' own rules.
    """
    reworded = vocabulary.reworded(text)
    meant = {
        word: domain
        for word in dict.fromkeys(_WORD.findall(reworded))
        if (domain := _domain_meant_by(word, vocabulary)) is not None
    }
    if not meant:
        return reworded, []
    # Rewording looks at the words around a name, so it starts again from the corrected text.
    corrected = _WORD.sub(lambda match: meant.get(match[0], match[0]), text)
    return vocabulary.reworded(corrected), [
        f"{word!r} was read as the domain {meant[word]!r}"
        for word in _WORD.findall(reworded)
        if word in meant
    ]


def _domain_meant_by(word: str, vocabulary: Vocabulary) -> str | None:
    """Return the domain that a word misspells; None unless exactly one is possible."""
    if word in vocabulary.domains or word in vocabulary.lookalikes:
        return None
    return repaired(word, vocabulary.domains)


def refuse_unknown_domains(text: str, vocabulary: Vocabulary) -> None:
    """Refuse a word in the place of a domain that is not a domain.

    Raises:
        Refusal: `unknown-domain`.
    """
    domains = vocabulary.domains
    known = {*domains, *vocabulary.names, *_BENIGN}
    for match in _OF_BENCHMARK.finditer(text):
        if match["domain"] in domains:
            _refuse_wrong_benchmark(match["name"], match["domain"], vocabulary)
    for match in _KEYED_DOMAINS.finditer(text):
        first = vocabulary.pattern(_FIRST_NAME).search(match["list"])
        if first and first[0] not in known:
            raise _unknown_domain(first[0], vocabulary)
    for match in vocabulary.pattern(_NOUN_OF_DOMAIN).finditer(text):
        word = match["word"]
        before = text[: match.start()].split()
        described = bool(before) and before[-1] in domains and match["noun"] not in {"domain"}
        if word not in known and not described:
            raise _unknown_domain(word, vocabulary)


def _refuse_wrong_benchmark(name: str, domain: str, vocabulary: Vocabulary) -> None:
    """Refuse `name/domain` where no benchmark of this name has the domain."""
    if name in {domain, *_BENIGN}:
        return
    meant = name if name in vocabulary.names else vocabulary.reworded(name).strip()
    problem = wrong_benchmark(meant, domain, vocabulary.benchmarks)
    if problem is None:
        return
    both = f" For both domains, write '{name} and {domain}'." if name in vocabulary.domains else ""
    raise Refusal("unknown-domain", f"{name + '/' + domain!r}: {problem}{both}")


def no_domain(text: str, vocabulary: Vocabulary) -> Refusal:
    """Return the refusal of a request without a domain, naming a word that may be meant as one."""
    for named in _OF_BENCHMARK.finditer(text):
        if named["name"] in vocabulary.names:
            _refuse_wrong_benchmark(named["name"], named["domain"], vocabulary)
    match = _ON_SOMETHING.search(text)
    if match and match[1] not in {*_BENIGN, *vocabulary.domains, *vocabulary.names}:
        return _unknown_domain(match[1], vocabulary)
    return Refusal(
        "no-domain",
        f"no domain is named: write, for example, 'on five {vocabulary.domain} tasks' "
        f"(domains: {', '.join(vocabulary.domains)})",
    )


def _unknown_domain(word: str, vocabulary: Vocabulary) -> Refusal:
    hint = did_you_mean(word, vocabulary.domains)
    return Refusal("unknown-domain", f"unknown domain {word!r}: {hint}")
