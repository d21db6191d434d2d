"""Topics: reads what tasks shall be about, such as `three tasks about baggage`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

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
_FORMS = (
    f"T {_WHICH} {_ABOUT}",
    "(T|ones|those) with",
    f"(ones|those|anything|everything|stuff) (D|{_WHICH})* {_ABOUT}",
    "(D)? (customers|customer|people|users|callers|passengers|someone|somebody) (who|whose|that|with)",
    "(topic|topics|subject|theme|about) :",
)
_STOPS = lexicon.words("for against using with on by via please from in at and as to then run")
"""Words that end a topic where an agent, a domain or a number follows."""
_MARKS = frozenset(",.;:()!?/")


@dataclass(frozen=True, kw_only=True)
class Topic:
    """A topic.

    Args:
        said: The words.
        domain: The domain that it was said of; None for all.
        is_certain: The words can mean nothing else.
    """

    said: str
    domain: str | None = None
    is_certain: bool = True


def take_topics(
    sentence: Sentence, domains: Sequence[str], is_topic: IsTopic
) -> tuple[dict[str, str], list[Topic]]:
    """Take the topics of the tasks out of a sentence.

    Returns:
        The topic by domain, and the topics among them that are to be confirmed.

    Raises:
        Refusal: `unknown-topic` if no task is about it, `ambiguous` for two topics of one domain.
    """
    found: dict[str, str] = {}
    for topic, indices in _certain(sentence):
        meant = domains if topic.domain is None else [topic.domain]
        if not (topic.is_certain or all(is_topic(topic.said, domain) for domain in meant)):
            continue  # unknown words like any other
        for domain in meant:
            if not is_topic(topic.said, domain):
                raise Refusal(
                    "unknown-topic",
                    f"no task of {domain} is about {topic.said!r}; `greenroom list tasks --domain "
                    f"{domain}` shows what its tasks are about",
                )
            if found.setdefault(domain, topic.said) != topic.said:
                raise Refusal(
                    "ambiguous", f"about {found[domain]!r} or about {topic.said!r}? Write one"
                )
        sentence.use(indices)
    if found:
        return found, []
    return _from_unknown(sentence, domains, is_topic)


def _certain(sentence: Sentence) -> Iterator[tuple[Topic, list[int]]]:
    for form in _FORMS:
        for found in list(sentence.find(form)):
            topic = _extent(sentence, found[-1] + 1)
            if topic:
                words = [i for i in found if sentence.tokens[i].kind != "domain"]
                sentence.use([i for i in words if i not in sentence.quantities])
                certain = not form.endswith(" with")
                yield Topic(said=sentence.said(topic), is_certain=certain), topic
    related = "(anything|everything|stuff|all)? W (W)* (- related|related)"
    for found in [
        *sentence.find("(D)? W (W)* (- related|related)? (D)? T"),
        *sentence.find(related),
    ]:
        yield from _in_front(sentence, found)
    for found in list(sentence.find("Q W (W)*")):
        words = [i for i in found[1:] if _is_unknown(sentence, i)]
        if words and words[0] == found[1]:
            run = _run(words)
            yield Topic(said=sentence.said(run)), run


def _in_front(sentence: Sentence, found: list[int]) -> Iterator[tuple[Topic, list[int]]]:
    """Yield the unknown words right before `tasks`, or before the domain before it."""
    words = [i for i in found if _is_unknown(sentence, i)]
    last = next((i for i in reversed(found) if sentence.tokens[i].kind == "word"), None)
    related = [i for i in found if sentence.tokens[i].text in ("-", "related")]
    if not words or last is None or not (words[-1] == last or words[-1] + 1 in related):
        return
    run = sorted(_run([i for i in reversed(words) if i not in related]))
    if not run:
        return
    domains = [sentence.tokens[i].value for i in found if sentence.tokens[i].kind == "domain"]
    sentence.use(related)
    yield Topic(said=sentence.said(run), domain=domains[0] if domains else None), run


def _run(indices: list[int]) -> list[int]:
    """Return the indices from the first on that follow each other, in either direction."""
    run = indices[:1]
    for index in indices[1:]:
        if abs(index - run[-1]) != 1:
            break
        run.append(index)
    return run


def _from_unknown(
    sentence: Sentence, domains: Sequence[str], is_topic: IsTopic
) -> tuple[dict[str, str], list[Topic]]:
    """Take unknown words that tasks are about, such as `airline: cancellations`, to be confirmed."""
    for index in range(len(sentence.tokens)):
        if not _is_unknown(sentence, index):
            continue
        run = _extent(sentence, index)
        said = sentence.said(run) if run else ""
        begin = index - 1 if sentence.tokens[index - 1].text in ("only", "just") else index
        alone = run and _is_boundary(sentence, begin - 1) and _is_boundary(sentence, run[-1] + 1)
        if alone and all(is_topic(said, domain) for domain in domains):
            sentence.use(range(begin, run[-1] + 1))
            return dict.fromkeys(domains, said), [Topic(said=said, is_certain=False)]
    return {}, []


def _is_boundary(sentence: Sentence, index: int) -> bool:
    """Tell whether a clause begins or ends here."""
    if not 0 <= index < len(sentence.tokens):
        return True
    token = sentence.tokens[index]
    return token.kind != "word" or not _is_free(sentence, index)


def _is_unknown(sentence: Sentence, index: int) -> bool:
    token = sentence.tokens[index]
    return token.kind == "word" and _is_free(sentence, index) and not lexicon.is_known(token.text)


def _is_free(sentence: Sentence, index: int) -> bool:
    return not sentence.used[index] and index not in sentence.quantities


def _extent(sentence: Sentence, begin: int) -> list[int]:
    """Return the tokens of a topic from `begin` to the end of its clause; a condition ends it."""
    indices: list[int] = []
    tokens = sentence.tokens
    for index in range(begin, len(tokens)):
        token = tokens[index]
        belongs = _is_free(sentence, index) and token.kind in ("word", "mark", "odd")
        ends = token.text in _MARKS or token.text in lexicon.CONSTRAINTS
        if not belongs or ends or _leads_on(sentence, index):
            break
        indices.append(index)
    while indices and not _is_unknown(sentence, indices[-1]):
        indices.pop()
    return indices


def _leads_on(sentence: Sentence, index: int) -> bool:
    """Tell whether a preposition leads to something else than the topic."""
    if sentence.tokens[index].text not in _STOPS:
        return False
    for after in range(index + 1, min(index + 4, len(sentence.tokens))):
        if not _is_free(sentence, after):
            return True
        if sentence.tokens[after].kind in ("agent", "domain", "number"):
            return True
        if not lexicon.is_harmless(sentence.tokens[after].text):
            return False
    return True
