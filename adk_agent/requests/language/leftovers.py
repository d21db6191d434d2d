"""Leftovers: decides what happens with the words that nothing accounts for."""

from __future__ import annotations

import re

from adk_agent.requests.language import lexicon
from adk_agent.requests.language.phrases import Sentence
from adk_agent.requests.language.vocabulary import Vocabulary
from adk_agent.requests.refusal import Refusal, RefusalCode
from adk_agent.requests.spelling import did_you_mean

_SIGNS = frozenset(",.;:()/&+-*|!?\"'•#_^[]")
_SOFT = lexicon.words("only exactly but then each either all")
"""Words that change nothing beside what is placed already, such as `5 tasks only`."""
_SMALL = lexicon.words("the of for a in on with to")
_SETTINGS = (
    "a sentence may set trials, seed, steps, concurrency, split, solo, scoring, topic and the user's "
    "model; more goes into flags or JSON"
)


def unused_words(sentence: Sentence, vocabulary: Vocabulary) -> tuple[str, ...]:
    """Return the words that change nothing that is known, in the order of the sentence.

    Raises:
        Refusal: A number, a name, a negation, a setting or a word of constraint is left.
    """
    unknown = [index for index in range(len(sentence.tokens)) if _is_unknown(sentence, index)]
    for index in unknown:
        _refuse_name(sentence, index, vocabulary)
    return tuple(sentence.said(run) for run in _runs(sentence, unknown))


def _is_unknown(sentence: Sentence, index: int) -> bool:
    """Tell whether a token is unknown, and may be left after a question.

    Raises:
        Refusal: It may not.
    """
    token = sentence.tokens[index]
    if sentence.used[index] or index in sentence.quantities or token.kind in ("end", "noun"):
        return False
    if token.kind == "mark" and token.text not in _SIGNS:
        raise Refusal("unsupported", f"{token.text!r} is not understood: write it in words")
    if token.kind == "mark" or (token.text in _SOFT and _beside_placed(sentence, index)):
        return False
    if token.text == "or":
        raise _not_placed(sentence, index, "which one? Write one", code="ambiguous")
    if _is_constraint(sentence, index):
        raise _not_placed(sentence, index, f"there is no support for it; {_SETTINGS}")
    apart = token.kind in ("odd", "model") and sentence.stands_apart(index)
    if token.kind != "word" and not (apart or index in sentence.asides):
        raise _not_placed(sentence, index, f"nothing says what {token.text!r} is for")
    return token.kind != "word" or not lexicon.is_harmless(token.text)


def _is_constraint(sentence: Sentence, index: int) -> bool:
    text = sentence.tokens[index].text
    if text in lexicon.AMOUNTS:
        following = sentence.tokens[index + 1 : index + 4]
        return any(token.kind in ("agent", "domain", "noun", "number") for token in following)
    if text in lexicon.QUALIFIERS:
        return not sentence.stands_apart(index)
    return text in lexicon.CONSTRAINTS


def _not_placed(
    sentence: Sentence, index: int, why: str, code: RefusalCode = "unsupported"
) -> Refusal:
    """Return the refusal of a word, quoted with its neighbours."""
    begin, end = max(index - 2, 0), min(index + 4, len(sentence.tokens))
    around = [i for i in range(begin, end) if sentence.tokens[i].kind != "end" or i < index]
    return Refusal(code, f"{sentence.said(around)!r}: {why}")


def _beside_placed(sentence: Sentence, index: int) -> bool:
    """Tell whether a word stands right before or after something that is placed."""
    for step in (1, -1):
        at = index + step
        while 0 <= at < len(sentence.tokens) and sentence.tokens[at].text in _SMALL:
            at += step
        if not 0 <= at < len(sentence.tokens):
            continue
        token = sentence.tokens[at]
        if sentence.used[at] or at in sentence.quantities or token.kind in ("domain", "noun"):
            return True
    return False


def _refuse_name(sentence: Sentence, index: int, vocabulary: Vocabulary) -> None:
    """Refuse an unknown word that may be the name of an agent, a domain or a split.

    It may be if it is joined to one of these by `and` or a comma, or is written in capitals.

    Raises:
        Refusal: `unknown-agent`, `unknown-domain`, `unknown-split` or `unsupported`.
    """
    token = sentence.tokens[index]
    if token.kind != "word":
        return
    after = sentence.tokens[index + 1].text if index + 1 < len(sentence.tokens) else ""
    joined = {_joined_to(sentence, index, -1), _joined_to(sentence, index, 1)}
    domains = ", ".join(vocabulary.domains)
    if after in ("domain", "domains", "benchmark") or "domain" in joined:
        hint = did_you_mean(token.text, vocabulary.domains)
        raise Refusal("unknown-domain", f"unknown domain {token.text!r}: {hint} (known: {domains})")
    if "agent" in joined:
        raise Refusal(
            "unknown-agent",
            f"no agent is registered as {token.text!r}: write its address, or register it first",
        )
    if re.search("[a-z]?[A-Z]{2}|[a-z][A-Z]", sentence.text[token.start : token.end]):
        raise _not_placed(sentence, index, "it is no agent and no domain that is known here")


def _joined_to(sentence: Sentence, index: int, step: int) -> str | None:
    """Return what `and`, `or`, `plus` or a slash joins a word to: an agent or a domain."""
    at = index + step
    joined = False
    while 0 <= at < len(sentence.tokens):
        token = sentence.tokens[at]
        if token.text in ("and", "&", "+", "plus", "/", "or"):
            joined = True
        elif token.text not in ("on", "the", "from", "of", ",", "-"):
            return token.kind if joined and token.kind in ("agent", "domain") else None
        at += step
    return None


def _runs(sentence: Sentence, unknown: list[int]) -> list[list[int]]:
    """Join unknown words between which only harmless ones stand."""
    runs: list[list[int]] = []
    for index in unknown:
        between = range(runs[-1][-1] + 1, index) if runs else ()
        joined = runs and all(
            not sentence.used[i]
            and i not in sentence.quantities
            and sentence.tokens[i].kind in ("word", "number")
            for i in between
        )
        if joined:
            runs[-1].append(index)
        else:
            runs.append([index])
    return runs
