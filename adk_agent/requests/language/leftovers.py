"""Leftovers: decides what happens with the words that nothing accounts for."""

from __future__ import annotations

import re

from adk_agent.requests.language import lexicon
from adk_agent.requests.language.binding import unknown_domain
from adk_agent.requests.language.phrases import Sentence
from adk_agent.requests.language.vocabulary import Vocabulary
from adk_agent.requests.refusal import Refusal, RefusalCode

_SIGNS = frozenset(",.;:()/&+-*|!?\"'•#_^[]")
_SOFT = lexicon.words("only exactly but then each either all")
"""Words that change nothing beside what is placed already, such as `5 tasks only`."""
_SMALL = lexicon.words("the of for a in on with to very")
_DOMAINS = ("domain", "domains", "benchmark", "suite", "suites")
_PART = "(for|on|of|in|with|over|about) (for|on|of|in|with|over|about|DET)* W"
"""The words before what may be a part of a domain."""
_CAPITALS = re.compile("[a-z]?[A-Z]{2}|[a-z][A-Z]")


def unused_words(sentence: Sentence, vocabulary: Vocabulary, parts: str = "") -> tuple[str, ...]:
    """Return the words that change nothing that is known, in the order of the sentence.

    Args:
        sentence: With everything used that has a meaning.
        vocabulary: Knows the domains.
        parts: The parts of the tasks, where all of them would be played: a word in the place of a
            part is refused then.

    Raises:
        Refusal: A number, a name, a negation, a setting or a word of constraint is left.
    """
    unknown = [index for index in range(len(sentence.tokens)) if _is_unknown(sentence, index)]
    for found in sentence.find(_PART) if parts else ():
        if found[-1] in unknown and not sentence.stands_apart(found[-1]):
            word = sentence.text_at(found[-1])
            raise Refusal(
                "unknown-topic", f"{sentence.said(found)!r}: there is no part {word!r}: {parts}"
            )
    for index in sentence.of_kind("word", unknown):
        _refuse_name(sentence, index, vocabulary)
    runs: list[list[int]] = []
    for index in unknown:
        between = range(runs[-1][-1] + 1, index) if runs else ()
        if runs and all(sentence.is_free(i) and sentence.tokens[i].kind == "word" for i in between):
            runs[-1].append(index)
        else:
            runs.append([index])
    return tuple(sentence.said(run) for run in runs)


def _is_unknown(sentence: Sentence, index: int) -> bool:
    """Tell whether a token is unknown, and may be left after a question; refuse others."""
    kind, text = sentence.tokens[index].kind, sentence.text_at(index)
    if not sentence.is_free(index) or kind in ("end", "noun", "agent", "domain"):
        return False
    if kind == "mark" and {index - 1, index + 1} & sentence.asides:
        return False  # of a number that is quoted
    if kind == "mark" and text not in _SIGNS:
        raise Refusal("unsupported", f"{text!r} is not understood: write it in words")
    if kind == "mark" or (text in _SOFT and _beside_placed(sentence, index)):
        return False
    if text == "or":
        raise _not_placed(sentence, index, "which one? Write one", code="ambiguous")
    if _is_constraint(sentence, index):
        raise _not_placed(sentence, index, f"a plan has no place for {text!r}")
    apart = kind in ("odd", "model") and sentence.stands_apart(index)
    if kind != "word" and not (apart or index in sentence.asides):
        raise _not_placed(sentence, index, f"nothing says what {text!r} is for")
    return kind != "word" or not lexicon.is_harmless(text)


def _is_constraint(sentence: Sentence, index: int) -> bool:
    """Tell whether a word changes a plan where it stands."""
    text = sentence.text_at(index)
    following = []
    for token in sentence.tokens[index + 1 : index + 4]:
        if token.ends_clause:
            break
        following.append(token.kind)
    if text in ("about", "around"):
        return "number" in following[:1]
    if text in lexicon.AMOUNTS:
        return not {"agent", "domain", "noun", "number"}.isdisjoint(following)
    if text in lexicon.QUALIFIERS:
        return not sentence.stands_apart(index)
    return text in lexicon.CONSTRAINTS


def _not_placed(
    sentence: Sentence, index: int, why: str, code: RefusalCode = "unsupported"
) -> Refusal:
    """Return the refusal of a word, quoted with its neighbours."""
    around = range(max(index - 2, 0), min(index + 4, len(sentence.tokens)))
    ends = [i for i in sentence.of_kind("end", around) if i > index]
    return Refusal(code, f"{sentence.said([i for i in around if i not in ends])!r}: {why}")


def _beside_placed(sentence: Sentence, index: int) -> bool:
    """Tell whether a word stands right before or after something that is placed."""
    for step in (1, -1):
        at = index + step
        while sentence.text_at(at) in _SMALL | _SOFT:
            at += step
        if 0 <= at < len(sentence.tokens) and (
            not sentence.is_free(at) or sentence.tokens[at].kind in ("agent", "domain", "noun")
        ):
            return True
    return False


def _refuse_name(sentence: Sentence, index: int, vocabulary: Vocabulary) -> None:
    """Refuse an unknown word that may be the name of an agent or a domain.

    It may be if it is joined to one of these by `and` or a comma, or is written in capitals.
    """
    token = sentence.tokens[index]
    joined = {_joined_to(sentence, index, -1), _joined_to(sentence, index, 1)}
    if "domain" in joined or sentence.text_at(index + 1) in _DOMAINS:
        raise unknown_domain(sentence, index, vocabulary)
    if "agent" in joined:
        why = "write its address, or register it first"
        raise Refusal("unknown-agent", f"no agent is registered as {token.text!r}: {why}")
    written = sentence.text[token.start : token.end]
    if _CAPITALS.search(written) and not sentence.stands_apart(index):
        raise _not_placed(sentence, index, "it is no agent and no domain that is known here")


def _joined_to(sentence: Sentence, index: int, step: int) -> str | None:
    """Return what `and`, `or`, `plus` or a slash joins a word to: an agent or a domain."""
    at = index + step
    joined = False
    while text := sentence.text_at(at):
        if text in ("and", "&", "+", "plus", "/", "or"):
            joined = True
        elif text not in ("on", "the", "from", "of", ",", "-"):
            kind = sentence.tokens[at].kind
            return kind if joined and kind in ("agent", "domain") else None
        at += step
    return None
