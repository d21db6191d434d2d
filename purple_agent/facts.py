"""Facts: the tools' results about the entities of a conversation, filed by entity."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from purple_agent.case import Json, Session, ToolCall, ToolResult, ToolSpec
from purple_agent.toolbox.control import control_of
from purple_agent.toolbox.verbs import entity_of, words_of

MOST_FACTS: Final = 100
"""Most entities of a session; the oldest are dropped."""

MOST_CHARS_OF_ONE: Final = 256_000
"""Most characters of a value as JSON; a longer one is not filed."""
MOST_CHARS: Final = 2_000_000
"""Limit for the values of a session, which may reach about twice that; the oldest are dropped."""

MOST_ROWS: Final = 50
MOST_VALUES: Final = 1_000

_ASIDE: Final = frozenset({"details", "detail", "info", "information", "record", "data"})
_ID_WORDS: Final = (("id",), ("ids",))
_LINKS: Final = ("_by_", "_for_", "_from_", "_of_", "_with_")


def entity_read_by(name: str) -> str:
    """Return the entity that a read tool is about.

    `get_expense` reads `expense`, and so do `get_expense_details` and `find_expense_by_code`.
    """
    entity = entity_of(name)
    for link in _LINKS:
        head = entity.partition(link)[0]
        entity = head or entity
    words = entity.split("_")
    while len(words) > 1 and words[-1] in _ASIDE:
        words.pop()
    return "_".join(words)


def file(session: Session, spec: ToolSpec, result: ToolResult) -> None:
    """File a tool's result under its entity, for the policy and later calls to use.

    A read's value replaces the entity; a failed read removes it, since the known value may be about
    another one. A write's result is merged into the entity whose id it has, or filed as a new one
    if the name is unknown.
    """
    if spec.is_write:
        _file_write(session, spec, result)
        return
    for name in dict.fromkeys((entity_read_by(spec.name), entity_of(spec.name))):
        session.facts.pop(name, None)
        if not result.failed and isinstance(result.value, dict | list):
            _keep(session, name, _unwrapped(name, result.value))


def results_of(session: Session) -> list[tuple[ToolCall, ToolResult]]:
    """Return the answered calls of a session with their results, oldest first."""
    return [
        (entry.call, entry.result)
        for entry in session.entries
        if entry.role == "result" and entry.call is not None and entry.result is not None
    ]


def about(
    session: Session,
    arguments: Mapping[str, Json],
    results: Sequence[tuple[ToolCall, ToolResult]],
) -> dict[str, Json]:
    """Return the facts that may be used to judge a call: those about the things that it names.

    These are reads of the call's arguments, or that found them; reads of values from those reads,
    and so on; and records with an id among the arguments. Any other fact may be about another thing
    of the same kind, such as the customer of another order. A number says little by itself, so it
    links only values under matching names.

    Args:
        session: The session with the tools and facts; it is not changed.
        arguments: The arguments of the call.
        results: The results of calls, oldest first.
    """
    named = {
        entity: fact for entity, fact in session.facts.items() if _is_named(entity, fact, arguments)
    }
    scratch = replace(session, facts=named)
    own = _own_reads(session, arguments, results)
    for number, (call, result) in enumerate(results):
        spec = session.spec(call.name)
        if spec is None or control_of(call.name) is not None:
            continue
        if spec.is_write:
            _merge(scratch, result)
        elif number in own:
            file(scratch, spec, result)
    return scratch.facts


def tells_of(
    session: Session, arguments: Mapping[str, Json], call: ToolCall, result: ToolResult
) -> bool:
    """Tell whether a call was a successful read of the things that the arguments name."""
    return not result.failed and bool(_own_reads(session, arguments, [(call, result)]))


def is_of_another(
    entity: str, fact: Json, arguments: Mapping[str, Json], *, is_subject: bool = False
) -> bool:
    """Tell whether a fact has an id and the arguments name other ids of its kind.

    Args:
        entity: The entity under which the fact is filed.
        fact: The known record.
        arguments: The arguments of a call.
        is_subject: The call's tool is about this entity. Then any id counts as one of its kind,
            unless one certainly is, because names of arguments may have drifted.
    """
    own = _own_id(entity, fact)
    if own is None:
        return False
    key = "".join(words_of(entity))
    ids = _values(arguments, lambda words: "".join(words) in (f"{key}id", f"{key}ids"))
    if ids:
        return ids != {_plain(own)}
    called = _values(arguments, lambda words: "".join(words) == key)
    if called:
        return not called & _values(fact, lambda _: True)
    others = _values(arguments, lambda words: words[-1:] in _ID_WORDS)
    return is_subject and bool(others) and _plain(own) not in others


def _values(record: Mapping[str, Json], wanted: Callable[[tuple[str, ...]], bool]) -> set[str]:
    """Return the values (and members of lists) under names whose words are wanted."""
    found = [value for name, value in record.items() if wanted(words_of(name))]
    members = [each for value in found for each in (value if isinstance(value, list) else [value])]
    return {_plain(each) for each in members}


def _plain(value: Json) -> str:
    return str(value).strip().casefold()


def _is_named(entity: str, fact: Json, arguments: Mapping[str, Json]) -> bool:
    own = _own_id(entity, fact)
    given = _by_words(arguments).get((*words_of(entity), "id"))
    return own is not None and given is not None and _plain(own) == _plain(given)


def _own_id(entity: str, fact: Json) -> Json:
    """Return the id of the record itself, not of records it refers to; None if it has none."""
    if not isinstance(fact, Mapping):
        return None
    fields = _by_words(fact)
    return fields.get((*words_of(entity), "id"), fields.get(("id",)))


def _by_words(record: Mapping[str, Json]) -> dict[tuple[str, ...], Json]:
    return {words_of(name): value for name, value in record.items()}


class _Links:
    """Values known to belong to a call, each with the names under which it occurred."""

    def __init__(self, arguments: Mapping[str, Json]) -> None:
        self._things: dict[str, set[str]] = {}
        self.add("", arguments)

    def add(self, entity: str, value: Json) -> None:
        for thing, text in _named_values(entity, value):
            self._things.setdefault(text, set()).add(thing)

    def lead_to(self, thing: str, text: str) -> bool:
        known = self._things.get(text, set())
        return bool(known) and (not _is_bare(text) or any(_fit(thing, each) for each in known))


def _own_reads(
    session: Session, arguments: Mapping[str, Json], results: Sequence[tuple[ToolCall, ToolResult]]
) -> set[int]:
    """Return the indexes of the results whose reads belong to a call."""
    reads = {
        number: (call, result)
        for number, (call, result) in enumerate(results)
        if (spec := session.spec(call.name)) is not None and not spec.is_write
    }
    named, links, own = _Links(arguments), _Links(arguments), set[int]()
    while True:
        new = [
            number
            for number, (call, result) in reads.items()
            if number not in own and (_is_led_to(call, links) or _finds(call, result, named))
        ]
        if not new:
            return own
        own.update(new)
        for number in new:
            call, result = reads[number]
            entity = entity_read_by(call.name)
            links.add(entity, _unwrapped(entity, result.value))


def _is_led_to(call: ToolCall, links: _Links) -> bool:
    asked = _named_values(entity_read_by(call.name), call.arguments)
    return all(links.lead_to(thing, text) for thing, text in asked)


def _finds(call: ToolCall, result: ToolResult, named: _Links) -> bool:
    """Tell whether a read by other arguments found the record of an id that the call names."""
    entity = entity_read_by(call.name)
    own = _own_id(entity, _unwrapped(entity, result.value))
    return own is not None and named.lead_to(entity, _plain(own))


def _named_values(entity: str, value: Json) -> list[tuple[str, str]]:
    """Return the texts and numbers of records, each with the thing that it names.

    The thing is the field's name without `id`; a plain `id` names the record's entity.
    """
    rows = value[:MOST_ROWS] if isinstance(value, list) else [value]
    fields = [field for row in rows if isinstance(row, Mapping) for field in row.items()]
    flat = [
        (name, each)
        for name, part in fields
        for each in (part if isinstance(part, list) else [part])
    ]
    return [
        (_thing(entity, name), _plain(each))
        for name, each in flat[:MOST_VALUES]
        if isinstance(each, str | int | float)
    ]


def _thing(entity: str, name: str) -> str:
    words = words_of(name)
    if words[-1:] in _ID_WORDS:
        words = words[:-1] or words_of(entity)
    return "_".join(words)


def _is_bare(text: str) -> bool:
    """Tell whether a value is a number or boolean, which many things have in common."""
    return text in ("true", "false") or text.removeprefix("-").replace(".", "", 1).isdecimal()


def _fit(one: str, other: str) -> bool:
    """Tell whether one name is or ends in the other: `billing_customer`, `customer`.

    A plain `id` among a call's arguments may name anything, so it fits every name.
    """
    if not one or not other:
        return True
    return f"_{one}".endswith(f"_{other}") or f"_{other}".endswith(f"_{one}")


def _unwrapped(name: str, value: Json) -> Json:
    """Return the record itself: the inner object of `{"expense": {...}}` from `get_expense`."""
    if isinstance(value, dict) and set(value) == {name} and isinstance(value[name], dict | list):
        return value[name]
    return value


def _file_write(session: Session, spec: ToolSpec, result: ToolResult) -> None:
    if _merge(session, result) or result.failed or not isinstance(result.value, dict):
        return
    name = entity_read_by(spec.name)
    if name not in session.facts:
        _keep(session, name, _unwrapped(name, result.value))


def _merge(session: Session, result: ToolResult) -> bool:
    """Merge a write's result into its record; return False if the record is unknown."""
    if result.failed or not isinstance(result.value, dict):
        return False
    for entity, known in session.facts.items():
        if isinstance(known, dict) and _same_thing(known, result.value):
            _keep(session, entity, {**known, **result.value})
            return True
    return False


def _same_thing(known: Mapping[str, Json], told: Mapping[str, Json]) -> bool:
    """Tell whether the first id of a known record is the same in both."""
    first = next((key for key in known if key == "id" or key.endswith("_id")), None)
    return first is not None and told.get(first) is not None and told[first] == known[first]


def _keep(session: Session, name: str, value: Json) -> None:
    """Keep a value within the limits; a value that is too large is dropped."""
    session.facts.pop(name, None)
    size = _size(value)
    if size > MOST_CHARS_OF_ONE:
        return
    session.facts[name] = value
    while len(session.facts) > MOST_FACTS:
        session.facts.pop(next(iter(session.facts)))
    # As long as values are below their share, the total need not be computed.
    if size > MOST_CHARS // MOST_FACTS:
        while sum(map(_size, session.facts.values())) > MOST_CHARS:
            session.facts.pop(next(iter(session.facts)))


def _size(value: Json) -> int:
    try:
        return len(json.dumps(value, default=str))
    except (ValueError, RecursionError):
        return MOST_CHARS_OF_ONE + 1
