"""Attributes: reads which tasks a sentence chooses by what they are, such as `user task 3`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import prod

from adk_agent.requests.conditions import fulfils, values_of
from adk_agent.requests.language import lexicon
from adk_agent.requests.language.phrases import Sentence
from adk_agent.requests.language.quantities import ids_in
from adk_agent.requests.language.splits import domain_beside
from adk_agent.requests.language.vocabulary import Vocabulary
from adk_agent.requests.refusal import Refusal
from tau_bridge.benchmark import TaskInfo

Conditions = dict[str, str]
"""Conditions on attributes by their names, as in `Selection.where`."""

_ANY = ">=0"
_MORE = "((,|and|, and|&|-|to|through|until) NAME? (#)? N !T !D !W_T)*"
_LEAVING_OUT = lexicon.words(
    "but except excluding not no never without minus skip skipping than omit drop exclude"
)
_SHORTEST_BEGINNING = 5
"""Letters of a value that a longer word may begin with: `exfil`, for `exfiltration`."""
_IDS_SHOWN = 3


def take_attributes(
    sentence: Sentence, domains: Sequence[str], vocabulary: Vocabulary
) -> dict[str, Conditions]:
    """Take the attributes of tasks out of a sentence; return the conditions of each domain."""
    said: dict[str, dict[str, list[str]]] = {}
    for domain in domains:
        for name, values in vocabulary.selectors(domain).items():
            numbered = all(map(str.isdigit, values))
            found = _numbers(sentence, name) if numbered else _values(sentence, values)
            for match, wanted in found:
                _refuse_left_out(sentence, match, name)
                beside = domain_beside(sentence, match)
                if beside in (None, domain):
                    said.setdefault(domain, {}).setdefault(name, []).extend(wanted)
                    sentence.chosen.update(match)
    sentence.place(sentence.chosen)
    return {
        domain: {name: " or ".join(dict.fromkeys(each)) for name, each in wanted.items()}
        for domain, wanted in said.items()
    }


def _refuse_left_out(sentence: Sentence, match: Sequence[int], attribute: str) -> None:
    """Refuse `everything but memory poisoning`."""
    before = match[0] - 1
    while sentence.text_at(before) in ("the", "any", "all", "a", "those", "for"):
        before -= 1
    if sentence.text_at(before) in _LEAVING_OUT:
        said = sentence.said([before, *match])
        raise Refusal("unsupported", f"{said!r}: name the {attribute} that is meant instead")


def _numbers(sentence: Sentence, attribute: str) -> Iterator[tuple[list[int], list[str]]]:
    """Yield the words of an attribute with numbers, or with `all`, and the values."""
    parts = attribute.split("_")
    name = " ".join("T" if part in lexicon.GENERIC_NOUNS else part for part in parts)
    for found in sentence.find(f"(all|every|each|any) (of)? (the|its)* {name}"):
        yield found, [_ANY]
    more = _MORE.replace("NAME", f"({name}|T)")
    for found in sentence.find(f"{name} (#|:|-|number|numbers)* N {more}"):
        yield found, ids_in(sentence, found)


def _values(sentence: Sentence, values: Iterable[str]) -> Iterator[tuple[list[int], list[str]]]:
    """Yield the words of each value: as it is written, or beginning like its parts."""
    for value in values:
        parts = value.split("_")
        for index, token in enumerate(sentence.tokens):
            words = [i for i in range(index, index + 2 * len(parts)) if sentence.text_at(i) != "-"]
            words = words[: len(parts)]
            if token.text == value:
                yield [index], [value]
            elif len(parts) > 1 and all(map(_is_begun, map(sentence.text_at, words), parts)):
                yield list(range(index, words[-1] + 1)), [value]


def _is_begun(word: str, part: str) -> bool:
    return word == part or (len(part) >= _SHORTEST_BEGINNING and word.startswith(part))


def check_attributes(
    sentence: Sentence, domain: str, where: Conditions, infos: Sequence[TaskInfo], *, counted: bool
) -> list[str]:
    """Return the question whether all tasks are meant, where the words may name fewer.

    Args:
        sentence: The sentence.
        domain: The domain.
        where: The conditions.
        infos: The tasks of the split.
        counted: The sentence says how many tasks it wants, or which split.

    Raises:
        Refusal: `unknown-task` if no task has the attributes.
    """
    ids = [info.ref.id for info in infos if fulfils(info, where)]
    asked = " and ".join(f"{name} {value}" for name, value in where.items())
    if not ids:
        known = "; ".join(f"{name} is {values_of(infos, name)}" for name in where)
        raise Refusal("unknown-task", f"no {domain} task has {asked}: {known}")
    several = any(" or " in value for value in where.values())
    if counted and several and {"each", "apiece", "per"} & {t.text for t in sentence.tokens}:
        raise Refusal(
            "ambiguous", f"{asked}: how many of each, or in total? Send a request for each"
        )
    nouns = [i for i in sentence.of_kind("noun") if i - 1 in sentence.chosen]
    is_one = any(not sentence.text_at(index).endswith("s") for index in nouns)
    named = prod(len(value.split(" or ")) for value in where.values())
    may_be_fewer = is_one or any(map(str.isdigit, asked))
    if counted or _ANY in where.values() or not may_be_fewer or len(ids) <= named:
        return []
    shown = ", ".join(ids[:_IDS_SHOWN])
    return [f"Shall all {len(ids)} {domain} tasks with {asked} be played ({shown} ...)?"]
