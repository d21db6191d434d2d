"""Binding: decides which quantity of tasks belongs to which domain."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from adk_agent.requests.language import lexicon
from adk_agent.requests.language.phrases import Quantity, Sentence
from adk_agent.requests.language.quantities import id_or_count
from adk_agent.requests.language.vocabulary import Vocabulary
from adk_agent.requests.refusal import Refusal
from adk_agent.requests.spelling import did_you_mean


@dataclass
class _Group:
    """Domains named in one list, and what is wanted of each of them."""

    domains: list[str]
    quantities: list[Quantity] = field(default_factory=list)


def bind(
    sentence: Sentence, named: Sequence[str] | None, vocabulary: Vocabulary
) -> list[tuple[str, Quantity]]:
    """Return what is wanted of each domain, in the order of the sentence.

    Args:
        sentence: With its quantities marked.
        named: The domains that a phrase such as `every domain` names; None without one.
        vocabulary: Knows the ids that belong to one domain.

    Raises:
        Refusal: `no-domain`, or `ambiguous` if it is open which number belongs to which domain.
    """
    groups, free, each = _groups(sentence)
    each = each or any(" per " in f" {quantity.said} " for quantity in free)
    if named is not None:
        if groups:
            raise Refusal("ambiguous", "all domains, or only the ones that are named? Write one")
        groups = [_Group(list(named))]
        each = True
    if not groups:
        groups = _implied(sentence, vocabulary)
    _bind_free(groups, free)
    for group in groups:
        _one_quantity(group)
        if not each and len(group.domains) > 1 and any(q.number for q in group.quantities):
            raise Refusal(
                "ambiguous",
                f"{group.quantities[0].said} of {' and '.join(group.domains)}: in total, or of each? "
                "Write '... tasks each', or a number for each domain",
            )
    wanted = [group for group in groups if group.quantities]
    if wanted and len(wanted) < len(groups):
        lacking = next(group for group in groups if not group.quantities)
        raise Refusal(
            "ambiguous", f"how many tasks of {lacking.domains[0]}? Write a number or 'all'"
        )
    return [
        (domain, group.quantities[0] if group.quantities else Quantity())
        for group in groups
        for domain in group.domains
    ]


_ITEMS = re.compile(
    r"(?P<qd>qe?d(?:c?d)*(?:c?e)?)(?!:?q(?!e?d))|(?P<dq>d(?:c?d)*:?c?e?q(?!e?d)e?)"
    r"|(?P<ad>a?d(?:c?d)*a?)|(?P<q>q)|(?P<a>a)|(?P<other>.)"
)
"""Number before domain, domain before number, a domain alone or with `all`, a number alone."""


def _groups(sentence: Sentence) -> tuple[list[_Group], list[Quantity], bool]:
    """Read groups of domains and their quantities from left to right.

    Returns:
        The groups, the quantities that belong to none, and whether numbers are meant for each.
    """
    letters, indices = _letters(sentence)
    _refuse_pairs(letters)
    groups: list[_Group] = []
    free: list[Quantity] = []
    for match in _ITEMS.finditer(letters):
        span = indices[match.start() : match.end()]
        domains = [sentence.tokens[i].value for i in span if sentence.tokens[i].kind == "domain"]
        quantities = [sentence.quantities[i] for i in span if i in sentence.quantities]
        if match["dq"]:
            _refuse_bare(sentence, span)
        if domains:
            groups.append(_Group(list(dict.fromkeys(domains)), quantities))
        else:
            free += quantities
    return _merged(groups), free, "e" in letters


def _refuse_bare(sentence: Sentence, span: Sequence[int]) -> None:
    """Refuse a number after a domain that may be an id: `airline 5`, `airline tasks from 45`.

    Raises:
        Refusal: `ambiguous`.
    """
    index = next(i for i in reversed(span) if i in sentence.quantities)
    domain = max(i for i in span if sentence.tokens[i].kind == "domain")
    between = sentence.tokens[domain + 1 : index]
    after_from = domain > 0 and sentence.tokens[domain - 1].text in ("from", "for", "of")
    is_open = not (between or after_from) or any(token.kind == "noun" for token in between)
    quantity = sentence.quantities[index]
    if quantity.number and not quantity.counts_tasks and is_open:
        raise id_or_count(sentence.said([domain, index]), quantity.number)


def _refuse_pairs(letters: str) -> None:
    """Refuse agents that each have tasks of their own.

    Raises:
        Refusal: `ambiguous`.
    """
    if re.search(r"u[^u]*d[^u]*u[^u]*d", letters) and "u" in letters:
        raise Refusal(
            "ambiguous",
            "does each agent play tasks of its own? One evaluation plays the same tasks with all of "
            "its agents: send one request for each, or name all agents first and then the tasks",
        )


def _merged(groups: list[_Group]) -> list[_Group]:
    """Leave out what names a domain a second time and asks for nothing more of it."""
    kept: list[_Group] = []
    for group in groups:
        same = [other for other in kept if set(other.domains) == set(group.domains)]
        if same:
            same[0].quantities += group.quantities
        else:
            kept.append(group)
    quantified = {name for group in kept if group.quantities for name in group.domains}
    return [group for group in kept if group.quantities or not set(group.domains) <= quantified]


def _letters(sentence: Sentence) -> tuple[str, list[int]]:
    """Return the sentence as letters, harmless words left out, and the token of each letter.

    d domain, q quantity, a `all`, e `each`, c comma or `and`, : colon, u agent, . end.
    """
    letters, indices = [], []
    for index, token in enumerate(sentence.tokens):
        letter = ""
        if index in sentence.quantities:
            quantity = sentence.quantities[index]
            letter = "q" if quantity.ids or quantity.number else "a"
        elif sentence.used[index] and token.kind != "agent":
            letter = ""
        elif token.kind in ("domain", "agent", "end"):
            letter = {"domain": "d", "agent": "u", "end": "."}[token.kind]
        else:
            letter = _SIGNS.get(token.text, "")
        if letter:
            letters.append(letter)
            indices.append(index)
    return "".join(letters), indices


_SIGNS = {
    **dict.fromkeys(("each", "every", "per", "apiece", "either"), "e"),
    **dict.fromkeys((",", "and", "&", "+", "/", "plus", "or"), "c"),
    **dict.fromkeys((":", "-"), ":"),
    ";": ".",
}


def _implied(sentence: Sentence, vocabulary: Vocabulary) -> list[_Group]:
    """Return the domain of the tasks that are named by id."""
    named = (vocabulary.task_named(t.value.lower()) for t in sentence.tokens if t.kind == "id")
    domains = dict.fromkeys(task[0] for task in named if task)
    if len(domains) != 1:
        for found in sentence.find("W (domain|domains|benchmark|tasks|T)"):
            word = sentence.tokens[found[0]].text
            if not lexicon.is_known(word):
                hint = did_you_mean(word, vocabulary.domains)
                raise Refusal("unknown-domain", f"unknown domain {word!r}: {hint}")
        known = ", ".join(vocabulary.domains)
        raise Refusal(
            "no-domain",
            f"no domain is named: write, for example, 'on five {vocabulary.domain} tasks' "
            f"(domains: {known})",
        )
    return [_Group(list(domains))]


def _bind_free(groups: Sequence[_Group], free: Sequence[Quantity]) -> None:
    """Give the quantities that stand alone to the domains that have none.

    Raises:
        Refusal: `ambiguous` if it is open what they count.
    """
    counted = [quantity for quantity in free if quantity.number or quantity.ids]
    without = [group for group in groups if not group.quantities]
    if not counted:
        for group in without:
            group.quantities += free
        return
    ids = [quantity.ids for group in groups for quantity in group.quantities if quantity.ids]
    if len(groups) == len(ids) == 1 and all(q.number == len(ids[0]) for q in counted):
        return  # "three tasks: 1, 4 and 7"
    said = " and ".join(repr(quantity.said) for quantity in counted)
    if any(not quantity.counts_tasks for quantity in counted):
        raise Refusal("ambiguous", f"{said}: of what? Write, for example, '5 tasks' or '3 trials'")
    if not without or (len(counted) > 1 and len(groups) > 1):
        raise Refusal("ambiguous", f"{said}: of which domain? Write each number beside its domain")
    for group in without:
        group.quantities += counted


def _one_quantity(group: _Group) -> None:
    """Leave one quantity, of several that agree.

    Raises:
        Refusal: `ambiguous` if they do not agree.
    """
    named = [quantity for quantity in group.quantities if quantity.ids]
    ids = tuple(dict.fromkeys(each for quantity in named for each in quantity.ids or ()))
    numbers = {quantity.number for quantity in group.quantities if quantity.number}
    everything = any(not (q.ids or q.number) for q in group.quantities)
    if len(numbers) + everything > 1 or (ids and (everything or numbers - {len(ids)})):
        said = " and ".join(repr(quantity.said) for quantity in group.quantities)
        raise Refusal("ambiguous", f"{said} of {group.domains[0]}: which one? Write one")
    if ids or numbers:
        first = any(quantity.first for quantity in group.quantities)
        number = None if ids else numbers.pop()
        said = group.quantities[0].said
        group.quantities[:] = [Quantity(ids=ids or None, number=number, first=first, said=said)]
