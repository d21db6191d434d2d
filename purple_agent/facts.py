"""Facts: what tools said of the entities that a conversation is about, filed by entity."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from purple_agent.case import Json, Session, ToolCall, ToolResult, ToolSpec
from purple_agent.toolbox.verbs import entity_of

MOST_FACTS: Final = 100
"""Entities that a session knows of; further ones push out the oldest."""

MOST_ROWS: Final = 50
MOST_VALUES: Final = 1_000

_ASIDE: Final = frozenset({"details", "detail", "info", "information", "record", "data"})
_LINKS: Final = ("_by_", "_for_", "_from_", "_of_", "_with_")


def entity_read_by(name: str) -> str:
    """The entity that a read tool is about.

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
    """File what a tool said under its entity, so that the policy and later calls can use it.

    A read's value replaces the entity; a read that failed removes it, since what was known before
    may be about another one. What a write returns is added to the entity that it names by an id,
    or filed as a new one where nothing of that name is known.
    """
    if spec.is_write:
        _file_write(session, spec, result)
        return
    for name in dict.fromkeys((entity_read_by(spec.name), entity_of(spec.name))):
        session.facts.pop(name, None)
        if not result.failed and isinstance(result.value, dict | list):
            _keep(session, name, _unwrapped(name, result.value))


def about(
    session: Session,
    arguments: Mapping[str, Json],
    results: Sequence[tuple[ToolCall, ToolResult]],
) -> dict[str, Json]:
    """The facts that may be used to judge a call: those about the very things that it names.

    These are reads of the call's arguments, or that found them, reads of what these reads told, and
    so on; and records that are known by an id among the arguments. Anything else may be about
    another thing of the same name, such as the customer of another order.

    Args:
        session: Whose tools and facts are looked at; it is not changed.
        arguments: Of the call.
        results: What calls brought, oldest first.
    """
    scratch = replace(session, facts=dict(_named_by(arguments, session.facts)))
    for call, result in _own_reads(session, arguments, results):
        spec = session.spec(call.name)
        if spec is not None:
            file(scratch, spec, result)
    return scratch.facts


def _named_by(
    arguments: Mapping[str, Json], known: Mapping[str, Json]
) -> Iterator[tuple[str, Json]]:
    for entity, fact in known.items():
        own = _own_id(entity, fact)
        given = arguments.get(f"{entity}_id")
        if own is not None and given is not None and str(own) == str(given):
            yield entity, fact


def _own_id(entity: str, fact: Json) -> Json:
    return fact.get(f"{entity}_id", fact.get("id")) if isinstance(fact, Mapping) else None


def _own_reads(
    session: Session, arguments: Mapping[str, Json], results: Sequence[tuple[ToolCall, ToolResult]]
) -> list[tuple[ToolCall, ToolResult]]:
    reads = [
        (call, result)
        for call, result in results
        if (spec := session.spec(call.name)) is not None and not spec.is_write
    ]
    named, values, own = _scalars(arguments), _scalars(arguments), set[int]()
    while True:
        new = [
            number
            for number, (call, result) in enumerate(reads)
            if number not in own
            and (_scalars(call.arguments) <= values or _finds(call, result, named))
        ]
        if not new:
            return [reads[number] for number in sorted(own)]
        own.update(new)
        for number in new:
            values |= _scalars(reads[number][1].value)


def _finds(call: ToolCall, result: ToolResult, named: frozenset[str]) -> bool:
    """Whether a read by other means brought the record of an id that the call names."""
    own = _own_id(entity_read_by(call.name), _unwrapped(entity_read_by(call.name), result.value))
    return own is not None and str(own) in named


def _scalars(value: Json) -> frozenset[str]:
    """The texts and numbers of a record, or of each of several, as texts."""
    rows = value[:MOST_ROWS] if isinstance(value, list) else [value]
    parts = [part for row in rows if isinstance(row, Mapping) for part in row.values()]
    flat = [each for part in parts for each in (part if isinstance(part, list) else [part])]
    return frozenset(
        str(each) for each in flat[:MOST_VALUES] if isinstance(each, str | int | float)
    )


def _unwrapped(name: str, value: Json) -> Json:
    """`{"expense": {...}}` read by `get_expense` is the expense itself."""
    if isinstance(value, dict) and set(value) == {name} and isinstance(value[name], dict | list):
        return value[name]
    return value


def _file_write(session: Session, spec: ToolSpec, result: ToolResult) -> None:
    if result.failed or not isinstance(result.value, dict):
        return
    for entity, known in session.facts.items():
        if isinstance(known, dict) and _same_thing(known, result.value):
            session.facts[entity] = {**known, **result.value}
            return
    name = entity_read_by(spec.name)
    if name not in session.facts:
        _keep(session, name, _unwrapped(name, result.value))


def _same_thing(known: Mapping[str, Json], told: Mapping[str, Json]) -> bool:
    """Whether both name one id, and it is the same; an id that both only refer to counts less."""
    first = next((key for key in known if key == "id" or key.endswith("_id")), None)
    return first is not None and told.get(first) is not None and told[first] == known[first]


def _keep(session: Session, name: str, value: Json) -> None:
    session.facts[name] = value
    while len(session.facts) > MOST_FACTS:
        session.facts.pop(next(iter(session.facts)))
