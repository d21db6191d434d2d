"""Splits: reads which part of a domain a sentence asks for."""

from __future__ import annotations

from adk_agent.requests.language import lexicon
from adk_agent.requests.language.phrases import Sentence
from adk_agent.requests.language.vocabulary import COMMON_SPLITS, Vocabulary
from adk_agent.requests.refusal import Refusal

_NEGATED = "(but not|not|no|without|except for|except|excluding|minus|skip|leave out) DET*"
_NOUN = "(split|splits|set|subset|partition|part)"


def take_splits(sentence: Sentence, vocabulary: Vocabulary) -> dict[str | None, str]:
    """Take the names of splits; return the split of each domain, under None that of all.

    Raises:
        Refusal: `ambiguous` if a domain gets two splits, `unknown-split`.
    """
    found: dict[str | None, str] = {}
    for phrase in filter(lambda each: " " in each, vocabulary.split_words):
        words = phrase.split()
        spelled = " DET* ".join((*words[:-1], f"({words[-1]}|{words[-1]}s) (T)?"))
        negated = f"{_NEGATED} {spelled}"
        _note(sentence, negated, vocabulary, found, phrase=phrase, is_left_out=True)
        _note(sentence, spelled, vocabulary, found, phrase=phrase)
    words = [each for each in vocabulary.split_words if " " not in each]
    name = f"({'|'.join((*vocabulary.splits, *words))})"
    _note(sentence, f"{_NEGATED} {name} (T|ones|{_NOUN})", vocabulary, found, is_left_out=True)
    for form in (f"{name} {_NOUN}", f"{_NOUN} (:|is|of)? {name}", f"(only|just|the)* {name} only"):
        _note(sentence, form, vocabulary, found)
    for match in sentence.find("W (split|splits|subset)"):
        unknown = sentence.text_at(match[0])
        if not lexicon.is_known(unknown):
            known = ", ".join(vocabulary.splits)
            raise Refusal("unknown-split", f"unknown split {unknown!r}: known are {known}")
    if not found:
        is_said = any(token.text in ("split", "splits", "set") for token in sentence.tokens)
        plain = () if is_said else ("test", "full")  # words that mean something else as well
        bare = "|".join(each for each in vocabulary.splits if each not in plain)
        _note(sentence, f"D (-|:|,|OPEN)? ({bare})", vocabulary, found)
        _note(sentence, f"({bare}) D", vocabulary, found)
        rare = "|".join(
            (*words, *(each for each in vocabulary.splits if each not in COMMON_SPLITS))
        )
        if rare:
            _note(sentence, f"({rare}) (T|ones)", vocabulary, found)
        if found:
            sentence.take(_NOUN)
    return found


def doubtful_splits(sentence: Sentence) -> list[str]:
    """Return the questions whether `test` after a domain means its split."""
    return [
        f"Shall all of {sentence.text_at(found[0])!r} be played, not its split 'test' alone?"
        for found in sentence.find("D test !T !N !D")
        if sentence.text_at(found[0] - 1) not in ("a", "an")
    ]


def _note(
    sentence: Sentence,
    form: str,
    vocabulary: Vocabulary,
    found: dict[str | None, str],
    *,
    phrase: str = "",
    is_left_out: bool = False,
) -> None:
    """Take the splits of a form of words, and note each for its domain.

    Args:
        sentence: The sentence.
        form: The form.
        vocabulary: Knows the splits.
        found: The split of each domain, to be added to.
        phrase: The words of the split, where they are several.
        is_left_out: The tasks are meant that are not of the split.
    """
    for match in sentence.find(form):
        words = [phrase, *map(sentence.text_at, match)]
        name = next(filter(None, map(vocabulary.split_named, words)), None)
        name = vocabulary.rest_of(name) if name and is_left_out else name
        if name is None:
            continue
        domain = domain_beside(sentence, match)
        sentence.chosen.update(match)
        if found.setdefault(domain, name) != name:
            raise Refusal("ambiguous", f"{found[domain]!r} or {name!r}: which split? Write one")
        sentence.place(match)


def domain_beside(sentence: Sentence, match: list[int]) -> str | None:
    """Return the domain that some words belong to; None if it is the only one, or all are meant."""
    tokens, named = sentence.tokens, sentence.of_kind("domain")
    of_all = any(sentence.text_at(i) in ("splits", "sets", "subsets") for i in match)
    if of_all or len({tokens[i].value for i in named}) < 2:
        return None
    before = [i for i in named if i <= match[-1]]
    following = [i for i in named if i > match[-1] + 1]
    if sentence.text_at(match[-1] + 1) in ("of", "from", "in"):
        joined = len(following) > 1 and sentence.text_at(following[0] + 1) in ("and", ",")
        return None if joined or not following else tokens[following[0]].value
    if not following and len(before) > 1 and _is_list(sentence, *before[-2:]):
        return None  # "one and the other, the test split"
    return tokens[before[-1] if before else named[0]].value


def _is_list(sentence: Sentence, one: int, other: int) -> bool:
    """Tell whether nothing but `and` or a comma stands between two tokens."""
    between = {sentence.text_at(index) for index in range(one + 1, other)}
    return between <= {"and", ",", "&", "+", "/", "plus", "the"}
