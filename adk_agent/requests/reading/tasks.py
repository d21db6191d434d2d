"""Tasks: reads the tasks and domains that a sentence asks for.

The words that matter become letters (`adk_agent.requests.reading.tokens`). A table of patterns runs
over them from left to right; the first pattern that matches takes its words.

A number after `task` is an id. A number before `tasks` is a count: a sample, or with `first` the
first of the split. A phrase with two readings of different cost (`shop 5`; five tasks of two
domains) is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from adk_agent.core.plan import Selection
from adk_agent.requests.reading.numbers import whole
from adk_agent.requests.reading.tokens import Token, prepared, tokens_of
from adk_agent.requests.reading.vocabulary import Vocabulary
from adk_agent.requests.refusal import Refusal
from tau_bridge.wording import TASK_NOUN

MAX_RANGE = 5_000
"""The most ids in a range."""

_REPEATED = r"(?:trials?|trails?|runs|times|attempts|steps?)\b"
_AFTER_TASKS = re.compile(
    rf"(?:{TASK_NOUN}|ids?|numbers?|#)\s*[:=#]?\s*(?:[0-9]+\s*(?:,|and|-|to)\s*)*$"
)
_CHOICE = (
    r"(?<![\w.])(?:[0-9]+\s*(?:-|to|or|through|/)\s*[0-9]+|between\s+[0-9]+\s+and\s+[0-9]+)\s+"
    rf"(?:of\s+the\s+)?(?:DOMAIN\b|{TASK_NOUN}\b|{_REPEATED})"
    rf"|(?<![\w.])[0-9]+\s*,?\s*and\s+[0-9]+\s+{_REPEATED}"
)


class _Count(NamedTuple):
    """A number of tasks, which are the first of the split if `first`."""

    number: int
    first: bool


@dataclass
class _Wanted:
    """The tasks of one domain read so far."""

    ids: list[str] = field(default_factory=list)
    counts: list[_Count] = field(default_factory=list)
    everything: bool = False

    @property
    def quantified(self) -> bool:
        return bool(self.ids or self.counts or self.everything)


def refuse_choices(text: str, vocabulary: Vocabulary) -> None:
    """Refuse a choice of numbers, such as `2 or 3 trials` or `5-10 tasks`.

    Raises:
        Refusal: `ambiguous`.
    """
    for match in vocabulary.pattern(_CHOICE).finditer(text):
        if not _AFTER_TASKS.search(text[: match.start()]):
            raise Refusal("ambiguous", f"{match[0]!r}: which number? Write one")


def read_tasks(
    text: str, literal_ids: Sequence[str], split: str | None, vocabulary: Vocabulary
) -> tuple[Selection, ...]:
    """Read the tasks of each domain that a lower-case text in digits asks for.

    Args:
        text: The rest of the sentence, without addresses and options.
        literal_ids: The ids behind the marks, in order.
        split: The split that the sentence names, or None.
        vocabulary: The names that a sentence may use.

    Returns:
        One selection per domain, in the order of the sentence; empty if no domain is named.

    Raises:
        Refusal: `ambiguous`, `contradiction`, `bad-number`, `no-domain`.
    """
    tokens = tokens_of(prepared(text, vocabulary), literal_ids, vocabulary)
    reader = _TaskReader(tokens, example=vocabulary.domain)
    return reader.selections(split)


_JOIN = "(?:c|a|ca)"
_NUMBER_OF_ID = "(?:n(?!D?[Tt]))"
_ID = f"(?:#?:?(?:{_NUMBER_OF_ID}|r|i))"
_IDS = f"{_ID}(?:{_JOIN}[Tt]?{_ID})*"
_SOME = f"D(?:{_JOIN}p?D)+(?!c?[Tt]?[#:]*[nri])"
_ONE_OR_SOME = f"D(?:{_JOIN}p?D)*(?!c?[Tt]?[#:]*[nri])"


_ADJECTIVES = re.compile(r"n(o{1,3})(?=D?[Tt])")


class _TaskReader:
    """Runs the table of patterns over the letters and gathers the tasks.

    Args:
        tokens: The tokens of the sentence.
        example: A domain for messages.
    """

    def __init__(self, tokens: Sequence[Token], *, example: str) -> None:
        self._tokens = list(tokens)
        self._example = example
        self._wanted: dict[str, _Wanted] = {}
        self._for_each: list[_Count] = []
        self._loose_counts: list[_Count] = []
        self._loose_ids: list[str] = []
        self._loose_all = False

    def selections(self, split: str | None) -> tuple[Selection, ...]:
        self._read()
        self._settle()
        return tuple(_selection(domain, wanted, split) for domain, wanted in self._wanted.items())

    def _read(self) -> None:
        letters = self._without_adjectives()
        at = end_of_ids = 0
        while at < len(letters):
            for pattern, action in _TABLE:
                match = pattern.match(letters, at)
                if match:
                    action(self, self._tokens[at : match.end()])
                    at = match.end()
                    end_of_ids = at if action is _TaskReader.ids else end_of_ids
                    break
            else:
                self._refuse_leftover(letters, at, end_of_ids)
                at += 1

    def _without_adjectives(self) -> str:
        """Return the letters, without other words between a number and the tasks it counts."""
        letters = "".join(token.letter for token in self._tokens)
        for match in reversed(list(_ADJECTIVES.finditer(letters))):
            self._tokens[match.start(1) : match.end(1)] = []
        return _ADJECTIVES.sub("n", letters)

    def _refuse_leftover(self, letters: str, at: int, end_of_ids: int) -> None:
        """Refuse a range, or a number after `tasks` or ids, that no pattern matched.

        Ignoring a number would mean playing all tasks.
        """
        continues = end_of_ids and letters[at] == "n" and at - end_of_ids in {1, 2}
        keyed = letters[at] == "n" and re.search(r"[Tt].{0,4}:$", letters[:at])
        if letters[at] == "r" or keyed or (continues and set(letters[end_of_ids:at]) <= {"c", "a"}):
            raise Refusal(
                "ambiguous",
                f"{self._tokens[at].text!r}: which tasks are meant? Write 'five {self._example} "
                f"tasks' or '{self._example} tasks 1, 4 and 7-9'",
            )

    def _settle(self) -> None:
        """Assign counts and ids given without a domain to the domains without any."""
        bare = [wanted for wanted in self._wanted.values() if not wanted.quantified]
        for wanted in bare if bare else self._wanted.values():
            wanted.counts += self._for_each
        if self._loose_all:
            for wanted in self._wanted.values() if len(self._wanted) == 1 else bare:
                wanted.everything = True
        if self._loose_counts and self._wanted:
            what = f"{self._loose_counts[0].number} tasks"
            self._the_only(bare, what).counts += self._loose_counts
        if self._loose_ids and self._wanted:
            self._the_only(bare, f"task {self._loose_ids[0]}").ids += self._loose_ids

    def _the_only(self, bare: Sequence[_Wanted], what: str) -> _Wanted:
        if len(self._wanted) == 1:
            return next(iter(self._wanted.values()))
        if len(bare) == 1:
            return bare[0]
        domains = list(self._wanted)
        raise Refusal(
            "ambiguous",
            f"{what}: of which domain ({', '.join(domains)})? Write for example "
            f"'five {domains[0]} and three {domains[1]} tasks', or '5 tasks each'",
        )

    def _domains(self, tokens: Sequence[Token]) -> list[_Wanted]:
        return [
            self._wanted.setdefault(token.text, _Wanted())
            for token in tokens
            if token.letter == "D"
        ]

    def ids(self, tokens: Sequence[Token]) -> None:
        """Add ids with their domain, or without one."""
        found = [each for token in tokens for each in _ids_of(token)]
        plural = any(token.letter == "T" and token.text.endswith("s") for token in tokens)
        marked = any(token.letter in "#ri" for token in tokens)
        if plural and not marked and len(found) == 1:
            raise _count_or_id(found[0])
        domains = self._domains(tokens)
        if domains:
            domains[0].ids += found
        else:
            self._loose_ids += found

    def count(self, tokens: Sequence[Token]) -> None:
        """Add a number of tasks for each domain named with it."""
        count = _count_of(tokens)
        each = any(token.letter == "e" for token in tokens)
        domains = self._domains(tokens)
        if len(domains) > 1 and not each:
            names = [token.text for token in tokens if token.letter == "D"]
            raise Refusal(
                "ambiguous",
                f"{count.number} tasks of {' and '.join(names)}: in total, or of each? Write "
                f"'{count.number} tasks each from {' and '.join(names)}', or a number for each",
            )
        for wanted in domains:
            wanted.counts.append(count)
        if not domains:
            (self._for_each if each else self._loose_counts).append(count)

    def listed(self, tokens: Sequence[Token]) -> None:
        """Add tasks given as a count followed by their ids."""
        found = [each for token in tokens[1:] for each in _ids_of(token)]
        number = _count_of(tokens).number
        if number != len(found):
            raise Refusal(
                "contradiction",
                f"{number} tasks are announced, but {len(found)} named ({', '.join(found[:5])})",
            )
        domains = self._domains(tokens)
        if domains:
            domains[0].ids += found
        else:
            self._loose_ids += found

    def everything(self, tokens: Sequence[Token]) -> None:
        """Add all tasks of the domains named here, or of the sentence."""
        domains = self._domains(tokens)
        for wanted in domains:
            wanted.everything = True
        self._loose_all = self._loose_all or not domains

    def domain(self, tokens: Sequence[Token]) -> None:
        """Add a domain without a number."""
        self._domains(tokens)

    def unclear(self, tokens: Sequence[Token]) -> None:
        """Refuse a number next to a domain that may be a count or an id."""
        self._domains(tokens)
        raise _count_or_id([token.text for token in tokens if token.letter == "n"][-1])

    def either(self, tokens: Sequence[Token]) -> None:
        """Refuse a choice."""
        shown = " ".join(token.text for token in tokens)
        raise Refusal("ambiguous", f"{shown!r}: write only the one to play, or 'and'")


def _count_or_id(number: str) -> Refusal:
    return Refusal(
        "ambiguous",
        f"{number!r} may be a number of tasks or a task's id: write '{number} tasks' or "
        f"'task {number}'",
    )


def _count_of(tokens: Sequence[Token]) -> _Count:
    token = next(token for token in tokens if token.letter == "n")
    return _Count(whole(token.text, what="number of tasks"), token.first)


def _ids_of(token: Token) -> list[str]:
    if token.letter == "i":
        return [token.text]
    if token.letter == "n":
        return [str(whole(token.text, what="task id", least=0))]
    if token.letter != "r":
        return []
    first, last = (
        whole(part, what="task id", least=0) for part in re.findall("[0-9]+", token.text)
    )
    if last < first or last - first >= MAX_RANGE:
        raise Refusal(
            "bad-number",
            f"the range {token.text!r} must go from low to high and have at most {MAX_RANGE} ids",
        )
    return [str(number) for number in range(first, last + 1)]


def _selection(domain: str, wanted: _Wanted, split: str | None) -> Selection:
    counts = list(dict.fromkeys(count.number for count in wanted.counts))
    ids = tuple(dict.fromkeys(wanted.ids))
    said = [f"{count} tasks" for count in counts]
    said += ["all tasks"] if wanted.everything else []
    said += [f"tasks {', '.join(ids[:5])}"] if ids else []
    agree = len(said) <= 1 or (len(said) == 2 and bool(ids) and counts == [len(wanted.ids)])
    if not agree:
        raise Refusal("contradiction", f"{domain}: {' and '.join(said)}; write one of these")
    return Selection(
        domain=domain,
        task_ids=tuple(wanted.ids) if ids else None,
        num_tasks=counts[0] if counts and not ids else None,
        first=not ids and any(count.first for count in wanted.counts),
        split=split or "base",
    )


_Action = Callable[[_TaskReader, Sequence[Token]], None]

_TABLE: tuple[tuple[re.Pattern[str], _Action], ...] = tuple(
    (re.compile(pattern), action)
    for pattern, action in (
        # shop or bank; 5 or 10
        (r"n?D[Tt]?c?v[op]{0,3}A?n?[Tt]?p*D", _TaskReader.either),
        (r"nvn", _TaskReader.either),
        # three shop tasks: 1, 4 and 7
        (rf"nD?[Tt]c?[:#]+{_IDS}", _TaskReader.listed),
        # shop tasks 1, 4 and 7 -- unless they belong to the domain that follows
        (rf"D[:c]*[Tt][#:p]*{_IDS}(?!p+D(?!c?[Tt]?[#:]*[nri]))", _TaskReader.ids),
        # tasks 1 and 2 of shop and 3 of bank: three tasks, or task 3?
        (rf"[Tt][#:p]*{_IDS}p+D{_JOIN}np+D(?![Tt])", _TaskReader.unclear),
        # task 12 of bank; tasks 1-3 and 9 of the shop domain; task 5 shop
        (rf"[Tt][#:p]*{_IDS}[pc]*pD[Tt]?(?!:?[#nri])", _TaskReader.ids),
        (r"t#?nD(?![Tt])", _TaskReader.ids),
        # shop 1, 4, 7; shop create_task_1; shop #5
        (rf"D[:cp]*(?:#n|[ri]|n(?={_JOIN}#?[nri](?!D?[Tt])))(?:{_JOIN}{_ID})*", _TaskReader.ids),
        # create_task_1 and update_task_1 on desk
        (rf"i(?:{_JOIN}{_ID})*[pc]*D", _TaskReader.ids),
        # 5 tasks, all in the shop domain; all 50 shop tasks
        (r"A?n[Tt]?cAp+D", _TaskReader.count),
        # 5 tasks each from shop and bank; ten shop and bank tasks
        (rf"A?e?ne?[Tt]?e?p*e?p*{_SOME}[Tt]?c?e?", _TaskReader.count),
        # shop and bank, 5 tasks each
        (rf"{_SOME}[Tt]?[:cp]*e?ne?[Tt]?(?:p?e)?(?!p*D)", _TaskReader.count),
        (rf"D(?:{_JOIN}p?D)+[Tt]?[:cp]*e?n(?:e[Tt]?|[Tt](?:p?e)?)(?!p*D)", _TaskReader.count),
        # five shop tasks; 5 tasks from shop
        (r"A?e?ne?[Tt]?e?p*e?p*D[Tt]?", _TaskReader.count),
        # shop: 5 tasks; shop=5
        (r"D[Tt]?[:cp]*A?ne?[Tt]e?(?!p+e?D)", _TaskReader.count),
        (r"D:n(?!o)", _TaskReader.count),
        (r"Dc?n(?!o)", _TaskReader.unclear),
        # all shop and bank tasks; shop, all tasks
        (rf"A[Tt]?p*{_ONE_OR_SOME}[Tt]?", _TaskReader.everything),
        (r"A[Tt]?p*D[Tt]?", _TaskReader.everything),
        (r"eD[Tt]?", _TaskReader.everything),
        (r"D[:cp]*A[Tt]?(?!p*D)(?!n)", _TaskReader.everything),
        # tasks 3 to 7; ten tasks per domain; all tasks
        (rf"[Tt][#:p]*{_IDS}", _TaskReader.ids),
        (rf"#:?(?:r|n(?=[ca]))(?:{_JOIN}{_ID})*", _TaskReader.ids),
        (r"A?(?:e[cp]?ne?[Tt]?|ne?[Tt]|ne)e?(?:pe)?", _TaskReader.count),
        (r"A[Tt]", _TaskReader.everything),
        (r"i(?:{_JOIN}{_ID})*", _TaskReader.ids),
        (r"D", _TaskReader.domain),
    )
)
