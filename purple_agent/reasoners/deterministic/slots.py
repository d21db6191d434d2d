"""Slots: a tool's parameters filled from what was said and from what is known."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Final

from purple_agent.case import Json
from purple_agent.reasoners.deterministic.dialogue_acts import yes_or_no
from purple_agent.reasoners.deterministic.ids import IdReader
from purple_agent.reasoners.deterministic.tools import Parameter, Tool
from purple_agent.reasoners.deterministic.utterance import (
    Utterance,
    Value,
    utterance_of,
)
from purple_agent.reasoners.deterministic.words import acts_of, stem, words_in
from purple_agent.toolbox.schema_types import is_of

LONGEST_SLOT: Final = 500
"""Characters of a text that fills a slot."""

_MONEY: Final = frozenset(
    [
        "amount",
        "price",
        "cost",
        "total",
        "budget",
        "value",
        "fee",
        "refund",
        "credit",
        "limit",
        "sum",
        "payment",
        "charge",
    ]
)
_SHARE: Final = frozenset(("percent", "percentage", "rate"))
_NAMING: Final = frozenset(("name", "title", "subject", "label"))
_FREE_TEXT: Final = frozenset(
    [
        "reason",
        "note",
        "notes",
        "description",
        "comment",
        "comments",
        "summary",
        "message",
        "justification",
        "details",
        "explanation",
        "rationale",
        "text",
        "body",
        "resolution",
    ]
)
_BECAUSE: Final = re.compile(
    r"\b(?:because|due to|since|as|reason(?: is|:)?)\s+([^.!?\n]{3,300})", re.I
)
_CALLED: Final = re.compile(
    r"\b(?:called|named|titled|entitled|with the (?:title|name|subject))\s+"
    r"([A-Z][\w&'-]*(?: (?:[A-Z0-9][\w&'-]*|of|and|for|the))*)"
)
_NOT: Final = re.compile(r"\b(?:not|no|without|don't|do not)\b[\w ]{0,20}$", re.I)
_LEAD_IN: Final = re.compile(
    r"^\W*(?:(?:it(?:'s| is)|that(?:'s| is| would be)|this is|sure|yes|ok|please use|use|make it|"
    r"the [\w ]{1,30} is|my [\w ]{1,30} is|i(?:'m| am))[,:]?\s+)+",
    re.I,
)


def slots_in(
    tool: Tool, said: Utterance, ids: IdReader, *, strict: bool = False
) -> dict[str, Json]:
    """Return the slots of a tool that a text fills by itself.

    Args:
        tool: Its parameters are filled.
        said: The text.
        ids: Reads the ids of the text.
        strict: An id does not fill a slot merely because it is the only one.
    """
    filled = ids.slots_in(tool, said, least=2 if strict else 1)
    used = {str(value).lstrip("#") for value in filled.values()}
    for parameter in tool.parameters:
        if parameter.name not in filled and not parameter.is_id:
            value = _value_for(parameter, tool, said, used)
            if value is not None:
                filled[parameter.name] = value
                used.add(str(value))
    return filled


def _value_for(parameter: Parameter, tool: Tool, said: Utterance, used: set[str]) -> Json:
    """Return the value that a text holds for a parameter; None for none."""
    if parameter.choices:
        return choice_in(parameter, said.text)
    if parameter.kind == "boolean":
        name = r"\W+".join(map(re.escape, parameter.words[-2:]))
        match = re.search(rf"\b{name}\b", said.text.lower())
        return None if match is None else _NOT.search(said.text[: match.start()]) is None
    labelled = parameter.label.search(said.text) if parameter.label else None
    typed = typed_value(parameter, _unquoted(labelled.group(1))) if labelled else None
    if typed is not None:
        return typed
    if parameter.kind in {"integer", "number"}:
        return _number_for(parameter, said, used)
    return _text_for(parameter, tool, said, used) if parameter.kind == "string" else None


def _unquoted(text: str) -> str:
    quoted = re.search(r"[\"']([^\"'\n]{1,300})[\"']", text)
    return quoted.group(1) if quoted else text.strip().strip("\"'")


def choice_in(parameter: Parameter, text: str) -> Json:
    """Return the value of an enumeration that a text names; None for none.

    The last one wins that is named as it is; else the last whose verb is: "close" for `closed`.
    """
    spoken = words_in(text)
    joined, acts = f" {' '.join(spoken)} ", [acts_of(stem(word)) for word in spoken]
    best: tuple[int, int, Json] = (0, -1, None)
    for choice in parameter.choices:
        plain = " ".join(words_in(str(choice)))
        best = max(best, (2, joined.rfind(f" {plain} "), choice), key=_place) if plain else best
        own = acts_of(stem(plain))
        places = [at for at, each in enumerate(acts) if own & each]
        best = max(best, (1, places[-1] if places else -1, choice), key=_place)
    return best[2]


def _place(found: tuple[int, int, Json]) -> tuple[int, int]:
    weight, at, _ = found
    return (weight, at) if at >= 0 else (0, -1)


def typed_value(parameter: Parameter, text: str) -> Json:
    """Return a text as the parameter wants it; None where it cannot be that."""
    text = text.strip()[:LONGEST_SLOT]
    if not text:
        return None
    if parameter.choices:
        return choice_in(parameter, text)
    if parameter.kind in {"integer", "number"}:
        numbers = [each.number for each in utterance_of(text).values]
        return _number(parameter, next((each for each in numbers if each is not None), None))
    if parameter.kind == "boolean":
        return {"true": True, "false": False}.get(bare(text).lower(), yes_or_no(text))
    if parameter.kind == "array":
        return [part.strip() for part in re.split(r",|\band\b", text) if part.strip()]
    if _is_date(parameter):
        return next(iter(utterance_of(text).texts("date")), None)
    return text if parameter.kind == "string" else None


def bare(text: str) -> str:
    """Return an answer without the words that lead in to it: `40` for "It is 40."."""
    return _LEAD_IN.sub("", text.strip()).strip().rstrip(".!").strip("\"'")


def _number(parameter: Parameter, number: Decimal | None) -> Json:
    if number is None or not number.is_finite():
        return None
    if number == number.to_integral_value():
        return int(number)
    return None if parameter.kind == "integer" else float(number)


def _number_for(parameter: Parameter, said: Utterance, used: set[str]) -> Json:
    """Return the only amount of the wanted kind, else a number beside the name, else the only one."""
    parts = frozenset(parameter.words)
    kind = "percent" if parts & _SHARE else "money" if parts & _MONEY else "number"
    wanted = [each for each in said.values if each.kind == kind]
    plain = [e for e in said.values if e.kind == "number" and e.text not in used]
    if kind == "number" or len(wanted) != 1:
        near = [each for each in (*wanted, *plain) if _is_near(parameter, said.text, each)]
        digits = [each for each in plain if each.text[:1].isdigit()]
        wanted = near[:1] or (wanted[:1] if kind != "number" else []) or digits
    return _number(parameter, wanted[0].number) if len(wanted) == 1 else None


def _is_near(parameter: Parameter, text: str, value: Value) -> bool:
    """Tell whether a word of the parameter's name stands beside a value."""
    names = {stem(word) for word in parameter.words}
    before = words_in(text[max(0, value.start - 25) : value.start])[-2:]
    after = words_in(text[value.end : value.end + 20])[:1]
    return any(stem(word) in names for word in (*before, *after))


def _is_date(parameter: Parameter) -> bool:
    return (
        "date" in parameter.words
        or parameter.format in {"date", "date-time"}
        or parameter.words[-1:] in {("day",), ("on",), ("deadline",), ("until",)}
    )


def _text_for(parameter: Parameter, tool: Tool, said: Utterance, used: set[str]) -> Json:
    """Return the text for a parameter. One that may be left out takes none by guessing."""
    parts = frozenset(parameter.words)
    quoted = next((each for each in said.texts("quoted") if each not in used), None)
    if _is_date(parameter):
        return next(iter(said.texts("date")), None)
    if "email" in parts:
        return next(iter(said.texts("email")), None)
    if "phone" in parts:
        return next(iter(said.texts("phone")), None)
    if "reason" in parts:
        because = _BECAUSE.search(said.text)
        return because.group(1).strip() if because else quoted
    if not parameter.required:
        return None
    if parts & _FREE_TEXT:
        # A quoted text rather is the name or title, where the tool wants one as well.
        named = any(_NAMING.intersection(each.words) for each in tool.required)
        return None if named else quoted
    if parts & _NAMING:
        called = _CALLED.search(said.text)
        return quoted or (called.group(1) if called else None)
    return quoted if len(said.texts("quoted")) == 1 else None


def is_free_text(parameter: Parameter) -> bool:
    """Tell whether the user's own words will do, as for a reason or a summary."""
    fixed = parameter.kind != "string" or parameter.choices or parameter.is_id
    return not fixed and bool(_FREE_TEXT.intersection(parameter.words))


# -- from what is known ------------------------------------------------------------------------


def known_value(parameter: Parameter, tool: Tool, known: Mapping[str, Json], said: str) -> Json:
    """Return the value that the facts hold for a parameter; None where they hold none, or several.

    A record's field of the very name wins; of a list, the one record that the words point to.
    """
    if parameter.kind == "object" or parameter.choices:
        return None
    records = [fact for fact in known.values() if isinstance(fact, dict)]
    named = _only(parameter, (record.get(parameter.name) for record in records))
    if named is not None or not parameter.is_id:
        return named
    record = known.get(parameter.entity or tool.entity)
    own = record.get("id") if isinstance(record, dict) else None
    return own if _fits(parameter, own) else _only(parameter, _ids_meant(parameter, known, said))


def _ids_meant(parameter: Parameter, known: Mapping[str, Json], said: str) -> Iterable[Json]:
    """Yield the ids of listed records of which the words name another field."""
    for name, fact in known.items():
        rows = fact[:200] if isinstance(fact, list) else []
        for row in (each for each in rows if isinstance(each, dict)):
            is_own = stem(name) == stem(parameter.entity)
            own = row.get(parameter.name, row.get("id") if is_own else None)
            texts = [each for each in row.values() if isinstance(each, str) and len(each) > 3]
            if len(rows) == 1 or any(t.lower() in said.lower() for t in texts if t != own):
                yield own


def _fits(parameter: Parameter, value: Json) -> bool:
    if parameter.kind in {"integer", "number", "boolean", "array"}:
        return is_of(value, parameter.kind)
    return isinstance(value, str) and 0 < len(value) <= LONGEST_SLOT


def _only(parameter: Parameter, values: Iterable[Json]) -> Json:
    """Return the value that all fitting ones are; None where there is none, or where they differ."""
    fitting = [each for each in values if _fits(parameter, each)]
    return fitting[0] if fitting and all(each == fitting[0] for each in fitting) else None
