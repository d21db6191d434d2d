"""Topics: reads what tasks shall be about, such as `three tasks about baggage`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import count, takewhile

from adk_agent.requests.language import lexicon
from adk_agent.requests.language.phrases import Sentence
from adk_agent.requests.refusal import Refusal

IsTopic = Callable[[str, str], bool]
"""Tells whether a task of a domain (second) is about some words (first)."""

_ABOUT = (
    "(about|concerning|regarding|involving|involve|involves|around|on the topic of|on the subject of|"
    "dealing with|deal with|deals with|related to|relating to|relate to|to do with|where|in which|"
    "featuring|feature|mentioning|mention|touching on|covering|cover|covers|that mention)"
)
_WHICH = "(that|which|are|is|were|anything|just|ones|the|have|has|having|somehow)*"
_PEOPLE = "(customers|customer|people|users|callers|passengers|someone|somebody)"
_CERTAIN = (
    f"T {_WHICH} {_ABOUT}",
    f"(ones|those|anything|everything|stuff) (D|{_WHICH})* {_ABOUT}",
    f"(D|when)? {_PEOPLE} (who|whose|that|with|(ask|asks|call|calls|complain|complains) about)",
    "(topic|topics|subject|theme|about) :",
)
"""The words before a topic."""
_UNCERTAIN = ("(T|one|ones|those) with",)
"""The words before what is a topic if tasks are about it."""
_IN_FRONT = "W (- related|related)? (D)? T|W (- related|related)"
"""Phrases that end with a topic: the unknown words up to the first one."""


def take_topics(
    sentence: Sentence, domains: Sequence[str], is_topic: IsTopic
) -> tuple[dict[str, str], tuple[str, ...]]:
    """Take the topics of the tasks out of a sentence.

    Returns:
        The topic by domain, and questions about topics that are to be confirmed.

    Raises:
        Refusal: `unknown-topic` if no task is about it, `ambiguous` for two topics of one domain.
    """
    found: dict[str, str] = {}
    for topic, of_domain, is_certain in _said(sentence):
        said = sentence.said(topic)
        meant = [of_domain] if of_domain else domains
        unmet = next((domain for domain in meant if not holds(is_topic, said, domain)), None)
        if unmet and not is_certain:
            continue  # unknown words like any other
        if unmet:
            raise Refusal(
                "unknown-topic",
                f"no task of {unmet} is about {said!r}; `greenroom list tasks --domain {unmet}` "
                "shows what its tasks are about",
            )
        for domain in meant:
            if found.setdefault(domain, said) != said:
                raise Refusal("ambiguous", f"about {found[domain]!r} or about {said!r}? Write one")
        sentence.place(topic)
    return (found, ()) if found else _from_unknown(sentence, domains, is_topic)


def holds(is_topic: IsTopic, said: str, domain: str) -> bool:
    """Tell whether a domain has tasks about a topic: about each of its alternatives."""
    return all(is_topic(part, domain) for part in said.split(" or "))


def _said(sentence: Sentence) -> Iterator[tuple[list[int], str | None, bool]]:
    """Yield the tokens of topics, the domain of which they are said, and whether they must be one."""
    for form in (*_CERTAIN, *_UNCERTAIN):
        for found in sentence.find(form):
            topic = _extent(sentence, found[-1] + 1)
            if topic:
                sentence.place(index for index in found if sentence.is_free(index))
                yield topic, None, form in _CERTAIN
    for found in sentence.find(_IN_FRONT):
        topic = _run(sentence, found[0], -1)
        if topic:
            sentence.place(sentence.of_kind("word", found[1:]) + sentence.of_kind("mark", found))
            beside = [index for index in (*found, topic[0] - 1) if index >= 0]
            yield topic, next(iter(sentence.values("domain", beside)), None), True
    for found in sentence.find("Q W"):
        topic = _run(sentence, found[1], 1)
        if topic and sentence.quantities[found[0]].number:
            yield topic, None, True


def _run(sentence: Sentence, index: int, step: int) -> list[int]:
    """Return the unknown words from a token on, forwards or backwards, in their order."""
    return sorted(takewhile(lambda at: at >= 0 and sentence.is_unknown(at), count(index, step)))


def _from_unknown(
    sentence: Sentence, domains: Sequence[str], is_topic: IsTopic
) -> tuple[dict[str, str], tuple[str, ...]]:
    """Take unknown words that tasks are about, such as `shop: cancellations`, to be confirmed."""
    for index in filter(sentence.is_unknown, range(len(sentence.tokens))):
        begin = index - 1 if sentence.text_at(index - 1) in ("only", "just") else index
        topic = _extent(sentence, index) if _is_boundary(sentence, begin - 1) else []
        said = sentence.said(topic) if topic and _is_boundary(sentence, topic[-1] + 1) else ""
        if said and all(holds(is_topic, said, domain) for domain in domains):
            sentence.place(range(begin, topic[-1] + 1))
            return dict.fromkeys(domains, said), (f"Shall the tasks be about {said!r}?",)
    return {}, ()


def _is_boundary(sentence: Sentence, index: int) -> bool:
    """Tell whether a clause begins or ends here."""
    if not 0 <= index < len(sentence.tokens):
        return True
    return sentence.tokens[index].kind != "word" or not sentence.is_free(index)


def _extent(sentence: Sentence, begin: int) -> list[int]:
    """Return the tokens of a topic from `begin` to the end of its clause; a condition ends it."""
    topic: list[int] = []
    for index in range(begin, len(sentence.tokens)):
        token = sentence.tokens[index]
        belongs = sentence.is_free(index) and token.kind in ("word", "mark", "odd")
        ends = token.text in ",.;:()!?/" or token.text in lexicon.CONSTRAINTS - {"or"}
        if not belongs or ends:
            break
        topic.append(index)
    while topic and not sentence.is_unknown(topic[-1]):
        topic.pop()
    return topic
