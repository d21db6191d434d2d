"""Slots: a tool's parameters filled from what was said and from what is known."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Final

from purple_agent.case import Json
from purple_agent.reasoners.deterministic.dialogue_acts import yes_or_no
from purple_agent.reasoners.deterministic.tools import Parameter, Tool
from purple_agent.reasoners.deterministic.utterance import Utterance, Value, id_shape, utterance_of
from purple_agent.reasoners.deterministic.words import acts_of, stem, words_in
from purple_agent.toolbox.schema_types import is_of
from purple_agent.toolbox.verbs import word_set

LONGEST_SLOT: Final = 500
"""Characters of a text that fills a slot."""

_MONEY: Final = word_set(
    "amount price cost total budget value fee refund credit limit sum payment charge"
)
_SHARE: Final = word_set("percent percentage rate")
_BECAUSE: Final = re.compile(
    r"\b(?:because|due to|since|as|reason(?: is|:)?)\s+([^.!?\n]{3,300})", re.I
)
_CALLED: Final = re.compile(
    r"\b(?:called|named|titled|entitled|with the (?:title|name|subject))\s+"
    r"([A-Z][\w&'-]*(?: (?:[A-Z0-9][\w&'-]*|of|and|for|the))*)"
)
_LEAD_IN: Final = re.compile(
    r"^\W*(?:(?:it(?:'s| is)|that(?:'s| is| would be)|this is|sure|yes|ok|please use|use|make it|"
    r"the [\w ]{1,30} is|my [\w ]{1,30} is|i(?:'m| am))[,:]?\s+)+",
    re.I,
)


def slots_in(tool: Tool, said: Utterance, *, strict: bool = False) -> dict[str, Json]:
    """Return the slots of a tool that a text fills by itself.

    Args:
        tool: Its parameters are filled.
        said: The text.
        strict: An id does not fill a slot merely because it is the only one.
    """
    filled = _id_slots(tool, said, least=2 if strict else 1)
    used = {str(value).lstrip("#") for value in filled.values()}
    for parameter in tool.parameters:
        if parameter.name not in filled and not parameter.is_id:
            value = _value_for(parameter, said, used)
            if value is not None:
                filled[parameter.name] = value
                used.add(str(value))
    return filled


# -- ids ---------------------------------------------------------------------------------------


def _id_slots(tool: Tool, said: Utterance, *, least: int) -> dict[str, Json]:
    """Give each id to the parameter that it fits best, if its rank is `least`."""
    offers = [
        (-rank, number, value.start, parameter, value.text)
        for number, parameter in enumerate(tool.parameters)
        if parameter.is_id and not parameter.choices
        for rank, value in _ranked(tool, parameter, said)
        if rank >= least
    ]
    filled: dict[str, Json] = {}
    taken: set[str] = set()
    for _, _, _, parameter, text in sorted(offers, key=lambda offer: offer[:3]):
        if parameter.name not in filled and text not in taken:
            filled[parameter.name] = typed_id(parameter, text)
            taken.add(text)
    return filled


def ids_for(tool: Tool, parameter: Parameter, said: Utterance) -> list[str]:
    """Return the ids of a text that fit a parameter best, in order."""
    ranked = [(rank, each.text) for rank, each in _ranked(tool, parameter, said) if rank]
    return [text for rank, text in ranked if rank == max(ranked)[0]]


def typed_id(parameter: Parameter, text: str) -> Json:
    """Return an id as a parameter wants it: alone in a list, or as a number."""
    plain = text.lstrip("#")
    if parameter.kind == "array":
        return [text]
    if parameter.kind in {"integer", "number"} and plain.isdigit() and len(plain) < 19:
        return int(plain)
    return plain if plain.isdigit() else text


def _ranked(tool: Tool, parameter: Parameter, said: Utterance) -> list[tuple[int, Value]]:
    """Rate how well each id of a text fits a parameter; 0 where it does not."""
    others = [each for each in tool.required if each.is_id and each is not parameter]
    numbers = [each for each in said.values if each.kind == "number"]
    ranked = [
        (_rank(parameter, parameter.entity or tool.entity, value, said), value)
        for value in (*said.ids, *numbers)
    ]
    # The only id is taken for the only slot, unless it rather is the id of something else.
    if len(said.ids) == 1 and not others and ranked[0][0] == 0:
        value = ranked[0][1]
        rivals = (each for each in tool.rivals if each.name != parameter.name)
        ranked[0] = int(not any(_rank(each, each.entity, value, said) for each in rivals)), value
    return ranked


def _rank(parameter: Parameter, entity: str, value: Value, said: Utterance) -> int:
    """Rate an id by the word before it, by its letters, and by examples in the schema."""
    words = [word for word in entity.split("_") if word]
    before = map(stem, words_in(said.text[max(0, value.start - 40) : value.start])[-3:])
    is_named = not {stem(word) for word in words}.isdisjoint(before)
    if value.kind == "number":  # an id only right behind its word: "order 10023"
        return 3 * (is_named and value.text.isdigit())
    rank = 3 * is_named + 3 * (id_shape(value.text) in parameter.examples)
    letters = re.match(r"#?([A-Za-z]+)", value.text)
    if letters is None or not words:
        return rank
    prefix = letters.group(1).lower()
    initials = "".join(word[0] for word in words)
    is_prefix = any(word.startswith(prefix) or prefix.startswith(word) for word in words)
    return rank + 2 * (is_prefix or prefix == initials)


# -- other values ------------------------------------------------------------------------------


def _value_for(parameter: Parameter, said: Utterance, used: set[str]) -> Json:
    """Return the value that a text holds for a parameter; None for none."""
    if parameter.choices:
        return choice_in(parameter, said.text)
    labelled = parameter.label.search(said.text) if parameter.label else None
    if labelled is not None:
        quoted = re.search(r"[\"']([^\"'\n]{1,300})[\"']", labelled.group(1))
        typed = typed_value(parameter, quoted.group(1) if quoted else labelled.group(1).strip())
        if typed is not None:
            return typed
    if parameter.kind in {"integer", "number"}:
        return _number_for(parameter, said, used)
    return _text_for(parameter, said, used) if parameter.kind == "string" else None


def choice_in(parameter: Parameter, text: str) -> Json:
    """Return the value of an enumeration that a text names; None for none.

    The last one wins that is named as it is, else the last whose verb is: "close" for `closed`.
    """
    spoken = words_in(text)
    joined = f" {' '.join(spoken)} "
    acts = [acts_of(stem(word)) for word in spoken]
    named, meant = {}, {}
    for choice in parameter.choices:
        plain = " ".join(words_in(str(choice)))
        named[joined.rfind(f" {plain} ")] = choice
        places = [at for at, each in enumerate(acts) if acts_of(stem(plain)) & each]
        meant[max(places, default=-1)] = choice
    best = named if max(named, default=-1) >= 0 else meant
    at = max(best, default=-1)
    return best[at] if at >= 0 else None


def typed_value(parameter: Parameter, text: str) -> Json:
    """Return a text as the parameter wants it, without words that lead in to it; None: it is none."""
    given, text = text, _bare(text)[:LONGEST_SLOT]
    if parameter.choices:
        return choice_in(parameter, text)
    if parameter.kind in {"integer", "number"}:
        numbers = [each.number for each in utterance_of(text).values]
        return _number(parameter, next((each for each in numbers if each is not None), None))
    if parameter.kind == "boolean":
        return {"true": True, "false": False}.get(text.lower(), yes_or_no(given))
    if parameter.kind == "array":
        return [part.strip() for part in re.split(r",|\band\b", text) if part.strip()] or None
    if parameter.is_date:
        return utterance_of(text).first("date")
    return text if text and parameter.kind == "string" else None


def _bare(text: str) -> str:
    """Return an answer without the words that lead in to it: `40` for "It is 40."."""
    return _LEAD_IN.sub("", text.strip()).strip().rstrip(".!").strip("\"'")


def _number(parameter: Parameter, number: Decimal | None) -> Json:
    if number is None:
        return None
    if number == number.to_integral_value():
        return int(number)
    return None if parameter.kind == "integer" else float(number)


def _number_for(parameter: Parameter, said: Utterance, used: set[str]) -> Json:
    """Return the first amount of the wanted kind, else the only plain number."""
    parts = frozenset(parameter.words)
    kind = "percent" if parts & _SHARE else "money" if parts & _MONEY else ""
    wanted = [each for each in said.values if each.kind == kind]
    plain = [e for e in said.values if e.kind == "number" and e.text not in used]
    digits = [each for each in plain if each.text[:1].isdigit()]
    found = wanted[:1] or (digits if len(digits) == 1 else [])
    return _number(parameter, found[0].number) if found else None


def _text_for(parameter: Parameter, said: Utterance, used: set[str]) -> Json:
    """Return the text for a parameter. One that may be left out takes none by guessing."""
    if parameter.is_date:
        return said.first("date")
    if "email" in parameter.words:
        return said.first("email")
    quoted = [each.text for each in said.values if each.kind == "quoted" and each.text not in used]
    pattern = _BECAUSE if "reason" in parameter.words else _CALLED
    found = pattern.search(said.text)
    if "reason" in parameter.words and found is not None:
        return found.group(1).strip()
    if not parameter.required:
        return None
    if quoted or found is None or not {"name", "title"}.intersection(parameter.words):
        return quoted[0] if len(quoted) == 1 else None
    return found.group(1)


# -- from what is known ------------------------------------------------------------------------


def known_value(parameter: Parameter, known: Mapping[str, Json]) -> Json:
    """Return the value that records have under a parameter's name; None for none, or for several."""
    if parameter.kind == "object" or parameter.choices:
        return None
    records = [fact for fact in known.values() if isinstance(fact, dict)]
    values = [record.get(parameter.name) for record in records]
    fitting = [each for each in values if _fits(parameter, each)]
    return fitting[0] if fitting and all(each == fitting[0] for each in fitting) else None


def _fits(parameter: Parameter, value: Json) -> bool:
    if parameter.kind in {"integer", "number", "boolean", "array"}:
        return is_of(value, parameter.kind)
    return isinstance(value, str) and 0 < len(value) <= LONGEST_SLOT
