"""Quantities: how many tasks a sentence asks for, or which, and of which domains."""

from __future__ import annotations

from collections.abc import Sequence

from adk_agent.requests.language import lexicon
from adk_agent.requests.language.phrases import Quantity, Sentence
from adk_agent.requests.language.tokens import Token
from adk_agent.requests.language.vocabulary import Vocabulary
from adk_agent.requests.refusal import Refusal

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
_EXCLUDING = (
    "(except|excluding|without|but not|not|apart from|other than|all but|skip|skipping|leave out|"
    "leaving out|omit|exclude|minus)"
)
_EXCLUDED_IDS = (
    f"{_EXCLUDING} (for|the|D)* (T|{_NUMBERED})* (:|#)* (N !T !D !TRIALS !steps|I) "
    "((,|and|, and|-|to) (#)? (N !T !D !TRIALS !steps|I))*"
)
_COUNTING = lexicon.words("size sample take pick choose select draw")
"""Words with which a number counts tasks."""
_RANGE_WORDS = ("-", "to", "through", "thru", "until", "till")
_QUANTITIES = (
    ("ids", f"(T)? {_NUMBERED}* (:)? I ((,|and|, and|&) (T)? I)*"),
    ("key", f"{_KEYS} !,_N"),
    *(("ids", notation) for notation in _IDS),
    ("first", "(the)? first (and only)? N !of_them"),
    ("first", "N first"),
    ("all", "(all|the whole|the full|the complete|the entire) (of)? (the|its|your|our)* N"),
    ("all", "N of (the|its)* N"),
    ("count", "T : N"),
    ("count", "(take|pick|choose|select|draw|sample|need|just|only) (just|only)? N !W !T !D"),
    ("count", "(MOST)? N x?"),
    ("first one", "(the)? (first|1st) (D)? T"),
    ("a", "(a|an|single|a single) (D)? T"),
    ("everything", "(all|every T|everything|whole|entire|entirely|complete|completely|full|fully|in full)"
     " (of it|of them|it has|they have|there is|there are|that there is)?"),
)  # fmt: skip
"""Kinds of quantities, and their words."""
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


def take_declined(sentence: Sentence, vocabulary: Vocabulary) -> tuple[list[str], list[str] | None]:
    """Take the domains that are not to be played, such as `skip retail`.

    Returns:
        These domains; and all others, if the sentence asks for `everything else`.
    """
    taken = sentence.take(_DECLINED) + sentence.take("D none")
    declined = [token.value for tokens in taken for token in tokens if token.kind == "domain"]
    if declined and sentence.take("(everything|anything|all) else|(all)? the (rest|others)"):
        return declined, [name for name in vocabulary.domains if name not in declined]
    return declined, None


def take_excluded_ids(sentence: Sentence) -> tuple[str, ...]:
    """Take the ids of tasks to leave out: `except tasks 3 and 7`."""
    excluded: list[str] = []
    for found in list(sentence.find(_EXCLUDED_IDS)):
        excluded += _ids_in([sentence.tokens[index] for index in found])
        sentence.use(found)
    return tuple(excluded)


def mark_quantities(sentence: Sentence) -> None:
    """Replace numbers and ids of tasks, and words for all of them, with quantities.

    Raises:
        Refusal: `bad-number` for no task or a huge range, `ambiguous` for a number that may be an id.
    """
    for kind, notation in _QUANTITIES:
        for found in list(sentence.find(notation)):
            tokens = [sentence.tokens[index] for index in found]
            if kind in ("count", "first", "all") and _is_aside(sentence, found):
                sentence.asides.update(found)
                continue
            quantity = _quantity(kind, sentence, found, tokens)
            rest = [i for i in found if sentence.tokens[i].kind != "domain"]
            if quantity is not None:
                sentence.quantify([i for i in rest if kind != "a" or i < found[-1]], quantity)


def _quantity(
    kind: str, sentence: Sentence, found: Sequence[int], tokens: Sequence[Token]
) -> Quantity | None:
    """Return the quantity that some words stand for; None if they stand for none."""
    numbers = sentence.numbers(tokens)
    noun = next((token.text for token in tokens if token.kind == "noun"), "")
    if kind == "ids":
        _refuse_lone(sentence, found, tokens, noun)
        return Quantity(ids=_ids_in(tokens))
    if kind == "everything":
        return Quantity()
    if kind in ("a", "first one"):
        return None if noun.endswith("s") else Quantity(number=1, first=kind == "first one")
    if numbers[-1] == 0:
        raise Refusal("bad-number", f"{sentence.said(found)!r}: no tasks at all?")
    counts = kind == "key" or _counts_tasks(sentence, found)
    number = numbers[-1] if kind == "key" else numbers[0]
    return Quantity(number=number, first=kind == "first", counts_tasks=counts)


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


def _refuse_lone(
    sentence: Sentence, found: Sequence[int], tokens: Sequence[Token], noun: str
) -> None:
    """Refuse a single number after `tasks`.

    Raises:
        Refusal: `ambiguous`.
    """
    plain = all(token.kind in ("noun", "number", "domain") for token in tokens)
    numbers = sentence.numbers(tokens)
    if len(numbers) == 1 and plain and noun.endswith("s"):
        raise id_or_count(sentence.said(found), numbers[0])


def id_or_count(said: str, number: int) -> Refusal:
    """Return the refusal of a number that may be one of tasks, or a task's."""
    return Refusal(
        "ambiguous",
        f"{said!r}: {number} tasks, or task number {number}? Write '{number} tasks' or "
        f"'task {number}'",
    )


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
