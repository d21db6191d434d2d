"""Quantities: how many tasks a sentence asks for, or which, and of which domains."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from adk_agent.core.plan import Selection
from adk_agent.requests.language import lexicon
from adk_agent.requests.language.phrases import Quantity, Sentence
from adk_agent.requests.language.tokens import Token
from adk_agent.requests.language.vocabulary import Vocabulary
from adk_agent.requests.refusal import Refusal
from adk_agent.requests.spelling import did_you_mean

MAX_RANGE = 5_000
"""The most ids in a range."""

_NUMBERED = "(number|numbers|nr|id|ids|index|#)"
_MORE = "((,|;|and|, and|&|-|to|through|thru|until|till) (T)? (#)? N !T !D)*"
_KEYS = "(num (-)? T|(the)? number of T|how many|how much|sample size|size|sample|count|T per D|T per domain) (:|is|are)* N"
"""Keys of a number of tasks."""
_IDS = (
    f"D N !T !D (,|;|and|, and|&|-|to|through|thru) (#)? N !T !D {_MORE}",
    f"(D|T)* {_NUMBERED} (:)? {_NUMBERED}* N {_MORE.replace(' !T', '').replace('and)', 'and)', 1).replace('until|till)', 'until|till)?')}",
    f"T (:)? (#)? N !T !D (,|;|and|, and|&|-|to|through|thru) (#)? N !T !D {_MORE}",
    "T (#)* N !T !D",
)
_LITERAL_IDS = f"(T)? {_NUMBERED}* (:)? I ((,|and|, and|&) (T)? I)*"
_EXCLUDING = (
    "(except|excluding|without|but not|not|apart from|other than|all but|skip|skipping|leave out|"
    "leaving out|omit|exclude|minus)"
)
_COUNTING = frozenset("size sample take pick choose select draw".split())
"""Words with which a number counts tasks."""
_RANGE_WORDS = ("-", "to", "through", "thru", "until", "till")
_COUNTS = (
    ("first", "(the)? first (and only)? N !of_them"),
    ("first", "N first"),
    ("all", "(all|the whole|the full|the complete|the entire) (of)? (the|its|your|our)* N"),
    ("all", "N of (the|its)* N"),
    ("count", "T : N"),
    ("count", "(take|pick|choose|select|draw|sample|need|just|only) (just|only)? N !W !T !D"),
    ("count", "(MOST)? N x?"),
)
_ALL = (
    "(all|every|everything|whole|entire|entirely|complete|completely|full|fully|in full)"
    " (of it|of them|it has|they have|there is|there are|that there is)?"
)
_EVERY_DOMAIN = (
    "(all|every|each|all of|each of|any|one of every) (of)? (the|your|other|available)*"
    " (domain|domains|benchmark|benchmarks) (you have|you offer|there is|there are|available|you know)?"
)
_BUT = "(except|excepting|but|but not|apart from|other than|excluding|without|minus|save)"
_LIST = "(for|the|from|on|in|of|domain|domains)* D ((,|and|, and|or|nor|&|/) (the)? D)*"
_DECLINED = (
    "(skip|not|no|leave out|leaving out|without|exclude|excluding|except|except for|omit|ignore|"
    "forget|drop|never|instead of|rather than|but not|and not|(do not|don't) (use|play|run|include|"
    f"bother with|bother|need|want|touch|do|test|try)) {_LIST} (domain|domains|T|please|this time)*"
)


@dataclass
class _Group:
    """Domains named in one list, and what is wanted of each of them."""

    domains: list[str]
    quantities: list[Quantity] = field(default_factory=list)


def take_domain_lists(sentence: Sentence, vocabulary: Vocabulary) -> list[str] | None:
    """Take `every domain`, with exceptions; return the domains that are meant, None without it."""
    everything = (f"({_EVERY_DOMAIN}|everything|anything) ({_BUT}) {_LIST}", _EVERY_DOMAIN)
    for notation in everything:
        for found in sentence.find(notation):
            others = [
                i for i, t in enumerate(sentence.tokens) if t.kind == "domain" and i not in found
            ]
            if others and sentence.tokens[found[0]].text in ("each", "every", "all", "any"):
                sentence.use(found[1:])  # each of the domains that are named
                return None
            tokens = [sentence.tokens[index] for index in found]
            if any(token.text == "anything" for token in tokens[:1]) and len(tokens) == 1:
                continue
            sentence.use(found)
            without = {token.value for token in tokens if token.kind == "domain"}
            return [name for name in vocabulary.domains if name not in without]
    return None


def take_declined(sentence: Sentence) -> list[str]:
    """Take the domains that are not to be played, such as `skip retail`."""
    taken = sentence.take(_DECLINED) + sentence.take("D none")
    return [token.value for tokens in taken for token in tokens if token.kind == "domain"]


def take_excluded_ids(sentence: Sentence) -> tuple[str, ...]:
    """Take the ids of tasks to leave out: `except tasks 3 and 7`."""
    notation = (
        f"{_EXCLUDING} (for|the|D)* (T|{_NUMBERED})+ (:|#)* (N|I) ((,|and|, and|-|to) (#)? (N|I))*"
    )
    excluded: list[str] = []
    for found in list(sentence.find(notation.replace(")+", ") (T|number|numbers|id|ids|#)*"))):
        tokens = [sentence.tokens[index] for index in found]
        excluded += _ids_in(tokens)
        sentence.use(found)
    return tuple(excluded)


def mark_quantities(sentence: Sentence) -> None:
    """Replace numbers and ids of tasks, and words for all of them, with quantities.

    Raises:
        Refusal: `bad-number` for an empty or huge range, `ambiguous` for a single number that may
            be an id.
    """
    for found in list(sentence.find(_LITERAL_IDS)):
        tokens = [sentence.tokens[index] for index in found]
        ids = tuple(token.value for token in tokens if token.kind == "id")
        _quantify(sentence, found, Quantity(ids=ids))
    for found in list(sentence.find(f"{_KEYS} !,_N")):
        number = sentence.numbers([sentence.tokens[index] for index in found])[-1]
        _quantify(sentence, found, Quantity(number=number))
    for notation in _IDS:
        for found in list(sentence.find(notation)):
            _mark_ids(sentence, found)
    for kind, notation in _COUNTS:
        for found in list(sentence.find(notation)):
            number = sentence.numbers([sentence.tokens[index] for index in found])[0]
            if number == 0:
                raise Refusal("bad-number", f"{sentence.said(found)!r}: no tasks at all?")
            if _is_aside(sentence, found):
                sentence.asides.update(found)
                continue
            quantity = Quantity(
                number=number, first=kind == "first", counts_tasks=_counts_tasks(sentence, found)
            )
            _quantify(sentence, found, quantity)
    for found in list(sentence.find("(the)? (first|1st)")):
        following = sentence.tokens[found[-1] + 1 : found[-1] + 3]
        nouns = [token.text for token in following if token.kind == "noun"]
        if nouns and not nouns[0].endswith("s"):
            _quantify(sentence, found, Quantity(number=1, first=True))
    for found in list(sentence.find("(a|an|single|a single) (D)? T")):
        tokens = [sentence.tokens[index] for index in found]
        if not tokens[-1].text.endswith("s"):
            plain = [i for i in found if sentence.tokens[i].kind == "word"]
            _quantify(sentence, plain, Quantity(number=1))
    for found in list(sentence.find(_ALL)):
        _quantify(sentence, found, Quantity())


def _is_aside(sentence: Sentence, found: Sequence[int]) -> bool:
    """Tell whether a number counts something that has nothing to do with the tasks."""
    after = found[-1] + 1
    if after >= len(sentence.tokens) or not sentence.stands_apart(found[0]):
        return False
    token = sentence.tokens[after]
    return token.kind == "word" and not (sentence.used[after] or lexicon.is_known(token.text))


def _counts_tasks(sentence: Sentence, found: Sequence[int]) -> bool:
    """Tell whether a number counts tasks: by the words with it, or right after it."""
    if any(sentence.tokens[index].kind in ("noun", "domain") for index in found):
        return True
    if any(sentence.tokens[index].text in _COUNTING for index in found):
        return True
    for index in range(found[-1] + 1, min(found[-1] + 5, len(sentence.tokens))):
        token = sentence.tokens[index]
        if token.kind in ("noun", "domain") or token.text in ("each", "em", "them", "ones"):
            return True
        if token.kind not in ("word", "domain") or sentence.used[index]:
            return False
    return False


def _quantify(sentence: Sentence, found: Sequence[int], quantity: Quantity) -> None:
    """Put a quantity in place of its words, and leave the domains among them where they are."""
    rest = [index for index in found if sentence.tokens[index].kind != "domain"]
    sentence.quantify(rest, quantity)


def _mark_ids(sentence: Sentence, found: Sequence[int]) -> None:
    tokens = [sentence.tokens[index] for index in found]
    noun = next((token for token in tokens if token.kind == "noun"), None)
    plain = all(token.kind in ("noun", "number", "domain") for token in tokens)
    numbers = sentence.numbers(tokens)
    if len(numbers) == 1 and plain and noun is not None and noun.text.endswith("s"):
        said = sentence.said(found)
        raise Refusal(
            "ambiguous",
            f"{said!r}: {numbers[0]} tasks, or task number {numbers[0]}? Write "
            f"'{numbers[0]} tasks' or 'task {numbers[0]}'",
        )
    _quantify(sentence, found, Quantity(ids=_ids_in(tokens)))


def _ids_in(tokens: Sequence[Token]) -> tuple[str, ...]:
    """Return the ids in a list such as `3, 7-9 and 12`."""
    ids: list[str] = []
    is_range = False
    for token in tokens:
        if token.kind == "id":
            ids.append(token.value)
        elif token.kind == "number" and is_range and ids:
            ids += _range(int(ids[-1]), int(token.value))
            is_range = False
        elif token.kind == "number":
            ids.append(str(int(token.value)))
        elif token.text in _RANGE_WORDS:
            is_range = True
    return tuple(ids)


def _range(first: int, last: int) -> list[str]:
    if not first < last <= first + MAX_RANGE:
        raise Refusal("bad-number", f"{first} to {last} is no range of tasks")
    return [str(number) for number in range(first + 1, last + 1)]


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
    is_open = not between or any(token.kind == "noun" for token in between)
    quantity = sentence.quantities[index]
    if quantity.number and not quantity.counts_tasks and is_open:
        said = sentence.said([domain, index])
        raise Refusal(
            "ambiguous",
            f"{said!r}: {quantity.number} tasks, or task number {quantity.number}? Write "
            f"'{quantity.number} tasks' or 'task {quantity.number}'",
        )


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


def selection_of(
    domain: str,
    quantity: Quantity,
    *,
    split: str | None,
    about: str | None,
    without: tuple[str, ...],
) -> Selection:
    """Return the selection of one domain."""
    return Selection(
        domain=domain,
        task_ids=quantity.ids,
        num_tasks=quantity.number,
        first=quantity.first,
        split=split or "base",
        about=about,
        without=without,
    )
