"""read_sentence: reads the evaluation that a sentence asks for, and accounts for every word."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from adk_agent.core.plan import EvaluationRequest, Participant, Selection
from adk_agent.requests.intent import Evaluate
from adk_agent.requests.language import lexicon
from adk_agent.requests.language.binding import bind
from adk_agent.requests.language.injection import refuse_injection
from adk_agent.requests.language.leftovers import unused_words
from adk_agent.requests.language.phrases import Quantity, Sentence, settings_in
from adk_agent.requests.language.quantities import (
    mark_quantities,
    take_declined,
    take_domain_lists,
    take_excluded_ids,
)
from adk_agent.requests.language.splits import take_splits
from adk_agent.requests.language.teams import read_participants, refuse_choice, unjoined
from adk_agent.requests.language.tokens import Token, tokenize
from adk_agent.requests.language.topics import IsTopic, take_topics
from adk_agent.requests.language.vocabulary import Vocabulary
from adk_agent.requests.refusal import Refusal
from tau_bridge.benchmark import BASE_SPLIT

MAX_LENGTH = 8_000
"""Most characters of a sentence; JSON may be longer."""
READ_BY_RULES = "Read by fixed rules: what the sentence names, and nothing else."

_IDIOMS = (
    "if you (do not mind|don't mind|can|could|like|want|please|would)",
    "(if|when|as soon as) (possible|you can)",
    "nothing (more|else)",
    "(that's|that is) (it|all)",
    "no (rush|hurry|problem|worries)",
    "(thanks|thank) (you)? in advance",
    "(at the moment|for now|this time|right now|real quick|once more)",
    "(i.e|e.g|that is|namely|such as|in total)",
    "(more|any) better than?",
    "and then !if",
    "start with",
    "how (many|much|far|long)",
    "(next|close) to (it|that|them|each other|one another)",
    "side by side|one beside the other|(with|to|against|beside|alongside) (each other|one another)",
    "under (test|evaluation)|(reachable|available|running|listening) (under|at|on|via)|as well|a (bit|little|lot)|first of all|so far",
)
_DESCRIPTION = (
    "DET (W)? (agent|bot|assistant|chatbot|endpoint|server|service|system|model) (of ours)? "
    "(at|on|is|is at|:|OPEN|,|running|deployed|behind|in|runs)* A",
    "A (,|OPEN|is|as)* DET (W)? (agent|bot|assistant|chatbot|endpoint|server|service|system)",
)
"""What describes an agent whose address stands beside it changes nothing."""
_COMMON_WORDS = frozenset({"business"})
_REASON = "(because|since|so that|in order to|so we|so i|so our|in order that) (!CLASS ANY)*"
_PURPOSE = "(just|only|simply)? (to|before (we|i|my|our|they)) (!CLASS ANY)*"
"""At the beginning of a clause alone: `to see where we are, run ...`, `before we sign, ...`."""
_ENDLESS = re.compile(r"[0-9]\s*(?:\.\.|…)|\band (?:so (?:on|forth)|others)\b", re.IGNORECASE)
_LIST_MARKER = re.compile(r"(?m)^\s*(?:[0-9]{1,2}[.)]|[a-z]\))(?=\s)")
_COUNTED_AGENTS = (
    "(both|all|these|the|our|my|of|all of)* N (of)? DET* AGENTS",
    "(both|all|of|between|among) (of)? (the|these|them|my|our)* N !D !T !AGENTS",
    "N (-)? way",
)


def read_sentence(
    text: str,
    *,
    registered: Mapping[str, str],
    vocabulary: Vocabulary,
    is_topic: IsTopic,
) -> Evaluate:
    """Read the evaluation that a sentence in English asks for.

    Raises:
        Refusal: The sentence cannot be read, or holds something that no plan can express; the
            message quotes the words and says what to write instead.
    """
    if len(text) > MAX_LENGTH:
        raise Refusal(
            "unsupported",
            f"the request has {len(text)} characters; a sentence may have {MAX_LENGTH}",
        )
    refuse_injection(text, vocabulary)
    blanked = _LIST_MARKER.sub(lambda match: " " * len(match[0]), text)
    tokens = tokenize(blanked, vocabulary, registered)
    _refuse_other_languages(tokens, vocabulary)
    endless = _ENDLESS.search(text)
    if endless:
        raise Refusal("ambiguous", f"{endless[0]!r}: where does it end? Name each of them")
    if not any(token.kind in ("agent", "domain", "noun") for token in tokens):
        raise not_an_evaluation("no agent and no domain are named", vocabulary)
    try:
        return _read(Sentence(text, tokens), vocabulary, is_topic)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise Refusal(
            "bad-number", f"{first['loc'][-1]} {first['input']!r} cannot be used: {first['msg']}"
        ) from error


def not_an_evaluation(why: str, vocabulary: Vocabulary) -> Refusal:
    """Return the refusal of a text that asks for no evaluation."""
    return Refusal(
        "not-an-evaluation",
        f"this does not ask for an evaluation ({why}). Write whom to evaluate and on what, "
        f"for example: {vocabulary.example}",
    )


def _refuse_other_languages(tokens: Sequence[Token], vocabulary: Vocabulary) -> None:
    """Refuse a sentence with words of another language.

    Raises:
        Refusal: `unsupported`.
    """
    texts = [token.text for token in tokens if token.kind in ("word", "noun")]
    strange = [
        token.text for token in tokens if token.kind == "word" and not lexicon.is_known(token.text)
    ]
    foreign = [text for text in texts if text in lexicon.FOREIGN]
    other_script = [
        token.text for token in tokens if token.kind in ("odd", "mark") and token.text.isalpha()
    ]
    if other_script or len(foreign) > 1 or len(strange) > max(4, 2 * len(texts) // 3):
        raise Refusal(
            "unsupported",
            f"this does not seem to be English ({(other_script or foreign or strange)[0]!r}); without "
            f"a language model, sentences are read in English only: {vocabulary.example}",
        )


def _read(sentence: Sentence, vocabulary: Vocabulary, is_topic: IsTopic) -> Evaluate:
    for idiom in _IDIOMS:
        sentence.take(idiom)
    refuse_choice(sentence)
    _take_descriptions(sentence)
    for found in list(sentence.find("about (DET|bundled)* A")):
        sentence.use([index for index in found if sentence.tokens[index].kind == "word"])
    participants, entry = read_participants(sentence)
    doubts = unjoined(sentence) if entry is None else []
    settings = _settings(sentence)
    _take_agent_counts(sentence, participants)
    _take_reasons(sentence)
    without = take_excluded_ids(sentence)
    named = take_domain_lists(sentence, vocabulary)
    declined, others = take_declined(sentence, vocabulary)
    splits = take_splits(sentence, vocabulary)
    _take_adjectives(sentence)
    mark_quantities(sentence)
    wanted = bind(sentence, named or others, vocabulary)
    sentence.take("each|apiece|per (domain|agent|bot)")
    domains = [domain for domain, _ in wanted]
    both = [domain for domain in domains if domain in declined]
    if both:
        raise Refusal(
            "contradiction", f"{both[0]!r} is both asked for and left out: write which holds"
        )
    topics, doubtful = take_topics(sentence, domains, is_topic)
    selections = _selections(wanted, splits, topics, without)
    sentence.use([i for i, token in enumerate(sentence.tokens) if token.kind == "domain"])
    unused = unused_words(sentence, vocabulary)
    request = EvaluationRequest(
        participants=participants,
        entry=entry,
        selections=selections,
        named_size=all(quantity.said for _, quantity in wanted),
        reasoning=READ_BY_RULES,
        warnings=_warnings(sentence, participants, entry),
        **settings,
    )
    doubts += [f"Shall the tasks be about {topic.said!r}?" for topic in doubtful]
    return Evaluate(request=request, unused=unused, doubts=tuple(doubts))


def _take_descriptions(sentence: Sentence) -> None:
    """Use the words that describe an agent, but none that could be a condition or a name."""
    for notation in _DESCRIPTION:
        for found in list(sentence.find(notation)):
            words = [i for i in found if sentence.tokens[i].kind == "word"]
            if not any(sentence.tokens[i].text in lexicon.LIMITS for i in words):
                sentence.use(words)


def _take_reasons(sentence: Sentence) -> None:
    """Use the words of reasons and purposes, up to a word with which a condition may begin."""
    purposes = (found for found in sentence.find(_PURPOSE) if _begins_clause(sentence, found[0]))
    for found in [*sentence.find(_REASON), *purposes]:
        texts = [sentence.tokens[i].text for i in found]
        end = next(
            (n for n, text in enumerate(texts) if n and text in lexicon.CONDITIONS), len(texts)
        )
        if lexicon.LIMITS.isdisjoint(texts[1:end]):
            sentence.use(found[:end])


def _begins_clause(sentence: Sentence, index: int) -> bool:
    return index == 0 or sentence.tokens[index - 1].kind in ("end", "mark")


def _settings(sentence: Sentence) -> dict[str, Any]:
    found: dict[str, Any] = {}
    words: dict[str, str] = {}
    passed: list[int] = []
    for name, value, said in settings_in(sentence):
        if name == "pass_k":
            passed.append(value)
            continue
        if found.setdefault(name, value) != value:
            raise Refusal("contradiction", f"{words[name]!r} and {said!r}: write which holds")
        words[name] = said
    if passed and max(passed) > found.setdefault("num_trials", max(passed)):
        raise Refusal(
            "contradiction",
            f"pass^{max(passed)} takes {max(passed)} trials, not {found['num_trials']}",
        )
    return found


def _take_agent_counts(sentence: Sentence, participants: Sequence[Participant]) -> None:
    """Take `both agents` and the like, if that many agents are named.

    Raises:
        Refusal: `ambiguous` if it is another number.
    """
    for notation in _COUNTED_AGENTS:
        for found in list(sentence.find(notation)):
            number = sentence.numbers([sentence.tokens[index] for index in found])[0]
            if number == len(participants):
                sentence.use(found)
            elif "AGENTS" in notation and "!" not in notation:
                raise Refusal(
                    "ambiguous",
                    f"{sentence.said(found)!r}, but {len(participants)} are named: name each of them",
                )
    if len(participants) == 2:
        sentence.take("both (of them|agents|bots)?")


def _take_adjectives(sentence: Sentence) -> None:
    """Take domains that only describe something, if another domain is named: `my shop bot`."""
    described = [found[0] for found in sentence.find("D W? (AGENT|AGENTS)")]
    named = [index for found in sentence.find("D") for index in found]
    compound = [
        found[0]
        for found in sentence.find("D W")
        if not lexicon.is_known(sentence.tokens[found[1]].text)
        and sentence.tokens[found[0]].text in _COMMON_WORDS
    ]
    if set(described) | set(compound) != set(named):
        sentence.use(described)
        for index in compound:
            sentence.tokens[index] = replace(sentence.tokens[index], kind="word")


def _selections(
    wanted: Sequence[tuple[str, Quantity]],
    splits: Mapping[str | None, str],
    topics: Mapping[str, str],
    without: tuple[str, ...],
) -> tuple[Selection, ...]:
    if without and len(wanted) > 1:
        raise Refusal("ambiguous", f"tasks {', '.join(without)} are left out: of which domain?")
    return tuple(
        Selection(
            domain=domain,
            task_ids=quantity.ids,
            num_tasks=quantity.number,
            first=quantity.first,
            split=splits.get(domain, splits.get(None, BASE_SPLIT)),
            about=topics.get(domain),
            without=without,
        )
        for domain, quantity in wanted
    )


def _warnings(
    sentence: Sentence, participants: Sequence[Participant], entry: str | None
) -> tuple[str, ...]:
    warnings = [
        f"{token.text!r} was read as {token.value!r}" for token in sentence.tokens if token.repaired
    ]
    if entry is not None:
        others = ", ".join(each.role for each in participants if each.role != entry)
        warnings.append(f"{entry} answers for the team, since it is named first; with {others}")
    return tuple(warnings)
