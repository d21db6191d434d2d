"""Splits: reads which part of a domain a sentence asks for."""

from __future__ import annotations

from adk_agent.requests.language import lexicon
from adk_agent.requests.language.phrases import Sentence
from adk_agent.requests.language.vocabulary import Vocabulary
from adk_agent.requests.refusal import Refusal

_NOUN = "(split|splits|set|subset|partition|part)"


def take_splits(sentence: Sentence, vocabulary: Vocabulary) -> dict[str | None, str]:
    """Take the names of splits; return the split of each domain, under None that of all.

    Raises:
        Refusal: `ambiguous` if a domain gets two splits, `unknown-split`.
    """
    name = f"({'|'.join(vocabulary.splits)})"
    found: dict[str | None, str] = {}
    forms = [f"{name} {_NOUN}", f"{_NOUN} (:|is|of)? {name}", f"(only|just|the)* {name} only"]
    for index in range(len(forms)):
        for match in list(sentence.find(forms[index])):
            _note(sentence, match, vocabulary, found)
    for match in sentence.find("W (split|splits|subset)"):
        unknown = sentence.tokens[match[0]].text
        if not lexicon.is_known(unknown):
            known = ", ".join(vocabulary.splits)
            raise Refusal("unknown-split", f"unknown split {unknown!r}: known are {known}")
    if not found:
        is_said = any(token.text in ("split", "splits", "set") for token in sentence.tokens)
        plain = () if is_said else ("test", "full")  # words that mean something else as well
        bare = [each for each in vocabulary.splits if each not in plain]
        after = f"D (-|:|,|OPEN)? ({'|'.join(bare)})"
        for match in list(sentence.find(after)) + list(sentence.find(f"({'|'.join(bare)}) D")):
            _note(sentence, match, vocabulary, found)
        if found:
            sentence.take(_NOUN)
    return found


def _note(
    sentence: Sentence, match: list[int], vocabulary: Vocabulary, found: dict[str | None, str]
) -> None:
    split = next(i for i in match if sentence.tokens[i].text in vocabulary.splits)
    domain = _domain_beside(sentence, match)
    name = sentence.tokens[split].text
    if found.setdefault(domain, name) != name:
        raise Refusal("ambiguous", f"{found[domain]!r} or {name!r}: which split? Write one")
    sentence.use([i for i in match if sentence.tokens[i].kind != "domain"])


def _domain_beside(sentence: Sentence, match: list[int]) -> str | None:
    """Return the domain that a split belongs to; None if it is the only one, or all are meant."""
    tokens = sentence.tokens
    named = [i for i, token in enumerate(tokens) if token.kind == "domain"]
    if len({tokens[i].value for i in named}) < 2:
        return None
    after = match[-1] + 1
    if after < len(tokens) and tokens[after].text in ("of", "from", "in"):
        following = [i for i in named if i > after]
        joined = len(following) > 1 and tokens[following[0] + 1].text in ("and", ",")
        return None if joined or not following else tokens[following[0]].value
    before = [i for i in named if i <= match[-1]]
    return tokens[before[-1]].value if before else tokens[named[0]].value
