"""Slots: a tool's parameters filled from what was said and from what is known."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Final

from purple_agent.case import Json
from purple_agent.reasoners.deterministic.acts import yes_or_no
from purple_agent.reasoners.deterministic.identifiers import ids_in
from purple_agent.reasoners.deterministic.index import Parameter, Tool
from purple_agent.reasoners.deterministic.said import Said
from purple_agent.reasoners.deterministic.values import Found, values_in
from purple_agent.reasoners.deterministic.words import acts_of, stem, words_in
from purple_agent.toolbox.schema_types import is_of

LONGEST_SLOT: Final = 500
"""Characters of a text that fills a slot."""

_MONEY: Final = frozenset(
    [
        *("amount", "price", "cost", "total", "budget", "value", "fee", "refund", "credit"),
        *("limit", "sum", "payment", "charge"),
    ]
)
_NAMING: Final = frozenset(["name", "title", "subject", "label"])
_REASONING: Final = frozenset(
    [
        *("reason", "note", "notes", "description", "comment", "comments", "summary"),
        *("message", "justification", "details", "explanation", "rationale", "text", "body"),
        *("resolution",),
    ]
)
_PERSONS: Final = frozenset(
    [
        *("assignee", "approver", "owner", "requester", "manager", "employee", "customer"),
        *("person", "user", "contact", "recipient", "reviewer", "agent", "name"),
    ]
)
_LIKE: Final[Mapping[str, tuple[str, ...]]] = {
    "completed": ("done", "complete", "finished", "finish"),
    "complete": ("done", "completed", "finished"),
    "done": ("completed", "complete", "finished"),
    "closed": ("close", "done", "finished"),
    "resolved": ("resolve", "fixed", "solved"),
    "in_progress": ("started", "ongoing", "working on", "under way"),
    "open": ("reopen", "opened"),
    "pending": ("waiting", "not done", "unfinished"),
    "cancelled": ("cancel", "canceled", "called off"),
    "canceled": ("cancel", "cancelled"),
    "approved": ("approve", "accepted", "accept", "ok"),
    "rejected": ("reject", "declined", "decline", "denied", "deny", "refused"),
    "denied": ("deny", "rejected", "declined"),
    "high": ("urgent", "critical", "asap", "important"),
    "urgent": ("asap", "immediately", "critical"),
    "low": ("minor", "not urgent"),
    "medium": ("normal", "moderate"),
    "critical": ("sev1", "severe", "outage"),
    "active": ("activate", "enabled", "enable"),
    "inactive": ("deactivate", "disabled", "disable"),
}
_BECAUSE: Final = re.compile(
    r"\b(?:because|due to|since|as|reason(?: is|:)?)\s+([^.!?\n]{3,300})", re.I
)
_CALLED: Final = re.compile(
    r"\b(?:called|named|titled|entitled|with the (?:title|name|subject))\s+"
    r"([A-Z][\w&'-]*(?: (?:[A-Z0-9][\w&'-]*|of|and|for|the))*)"
)
_PERSON: Final = re.compile(
    r"\b(?:for|to|by|from|of|is|i'm|i am|am|user|employee|customer|mr|mrs|ms|with|and)\.?\s+"
    r"((?:[A-Z][a-z'-]+)(?: [A-Z][a-z'-]+){0,2})"
)
_BECOMES: Final = re.compile(r"\bto\s+([^.!?;\n]{2,200}?)[.!?]?\s*$")
_CHANGES: Final = acts_of(stem("update"))
_NOT: Final = re.compile(r"\b(?:not|no|without|don't|do not)\b[\w ]{0,20}$", re.I)


def explicit(
    tool: Tool, said: Said, known: Mapping[str, Json], *, strict: bool = False
) -> dict[str, Json]:
    """The slots that a text fills by itself.

    Args:
        tool: Whose slots.
        said: The text.
        known: Facts, for the forms of ids.
        strict: An id that merely is the only one does not fill a slot.
    """
    filled: dict[str, Json] = {}
    filled.update(ids_in(tool, said, known, least=2 if strict else 1))
    used = {str(value).lstrip("#") for value in filled.values()}
    for parameter in tool.parameters:
        if parameter.name not in filled and not parameter.is_id:
            value = _slot(parameter, tool, said, used)
            if value is not None:
                filled[parameter.name] = value
                used.add(str(value))
    return filled


# -- everything else ---------------------------------------------------------------------------


def _slot(parameter: Parameter, tool: Tool, said: Said, used: set[str]) -> Json:
    """The value that a text holds for a parameter. One that may be left out takes no guess."""
    if parameter.choices:
        return choice_in(parameter, said.text)
    if parameter.kind == "boolean":
        return _truth(parameter, said.text)
    labelled = _labelled(parameter, said.text)
    if labelled is not None:
        typed = typed_value(parameter, labelled)
        if typed is not None:
            return typed
    if parameter.kind in {"integer", "number"}:
        return _amount(parameter, said, used)
    if parameter.kind == "array":
        return _several(parameter, said)
    if parameter.kind != "string":
        return None
    guess = _text(parameter, tool, said, used)
    return guess if parameter.required or _has_a_form(parameter) else None


def _has_a_form(parameter: Parameter) -> bool:
    """Whether a value is known for what it is by how it looks, or by "because"."""
    parts = frozenset(parameter.words)
    return _is_date(parameter) or bool(parts & {"email", "phone", "reason"})


def choice_in(parameter: Parameter, text: str) -> Json:
    """The value of an enumeration that is named last, by itself or by a word alike."""
    spoken = f" {' '.join(words_in(text))} "
    best: tuple[int, int, Json] | None = None
    for choice in parameter.choices:
        plain = " ".join(words_in(str(choice)))
        own = plain.replace(" ", "_")
        for weight, form in ((2, plain), *((1, word) for word in _LIKE.get(own, ()))):
            at = spoken.rfind(f" {form} ") if form else -1
            if at >= 0 and (best is None or (weight, at) > best[:2]):
                best = (weight, at, choice)
    return None if best is None else best[2]


def _truth(parameter: Parameter, text: str) -> bool | None:
    name = r"\W+".join(map(re.escape, parameter.words[-2:]))
    match = re.search(rf"\b{name}\b", text.lower())
    if match is None:
        return None
    return _NOT.search(text[: match.start()]) is None


def _labelled(parameter: Parameter, text: str) -> str | None:
    """What stands behind the parameter's name: `vendor: Acme`, `the amount is 40`."""
    match = parameter.label.search(text) if parameter.label else None
    if match is None:
        return None
    value = match.group(1).strip()
    quoted = re.search(r"[\"']([^\"'\n]{1,300})[\"']", value)
    return quoted.group(1) if quoted else value.strip("\"'")


def typed_value(parameter: Parameter, text: str) -> Json:
    """A text as the parameter wants it; None where it cannot be that."""
    text = text.strip()[:LONGEST_SLOT]
    if not text:
        return None
    if parameter.choices:
        return choice_in(parameter, text)
    if parameter.kind in {"integer", "number"}:
        number = next((each.number for each in values_in(text) if each.number is not None), None)
        return _numeric(parameter, number)
    if parameter.kind == "boolean":
        return {"true": True, "false": False}.get(bare(text).lower(), yes_or_no(text))
    if parameter.kind == "array":
        return [part.strip() for part in re.split(r",|\band\b", text) if part.strip()]
    if _is_date(parameter):
        return next((each.text for each in values_in(text) if each.kind == "date"), None)
    return text if parameter.kind == "string" else None


def _numeric(parameter: Parameter, number: Decimal | None) -> Json:
    if number is None or not number.is_finite():
        return None
    whole = number == number.to_integral_value()
    if parameter.kind == "integer":
        return int(number) if whole else None
    return int(number) if whole else float(number)


def _amount(parameter: Parameter, said: Said, used: set[str]) -> Json:
    parts = frozenset(parameter.words)
    wants_money = bool(parts & _MONEY) and not parts & {"percent", "percentage", "rate", "days"}
    kinds = ("money",) if wants_money else ()
    if parts & {"percent", "percentage", "rate"}:
        kinds = ("percent",)
    candidates = [each for each in said.values if each.kind in kinds]
    if len(candidates) != 1:
        near = [
            each
            for each in said.values
            if each.kind in {"number", *kinds} and _is_near(parameter, said.text, each)
        ]
        plain = [
            each
            for each in said.values
            if each.kind == "number"
            and each.text not in used
            and each.text.isascii()
            and each.text[:1].isdigit()
        ]
        candidates = candidates[:1] or near[:1] or (plain if len(plain) == 1 else [])
    value = candidates[0].number if candidates else None
    return _numeric(parameter, value)


def _is_near(parameter: Parameter, text: str, value: Found) -> bool:
    """Whether a word of the parameter's name, or of its unit, stands beside the value."""
    names = {stem(word) for word in parameter.words}
    names |= {stem(word) for word in words_in(parameter.description)[:12] if len(word) > 3}
    around = (
        *words_in(text[max(0, value.start - 25) : value.start])[-2:],
        *words_in(text[value.end : value.end + 20])[:1],
    )
    return any(stem(word) in names for word in around)


def _several(parameter: Parameter, said: Said) -> Json:
    items = parameter.schema.get("items")
    if isinstance(items, dict) and items.get("type", "string") != "string":
        return None
    quoted = [each.text for each in said.values if each.kind == "quoted"]
    return quoted or None


def _is_date(parameter: Parameter) -> bool:
    parts = parameter.words
    return (
        "date" in parts
        or parameter.schema.get("format") in {"date", "date-time"}
        or (parts[-1:] in {("day",), ("on",), ("deadline",), ("until",)})
    )


def _text(parameter: Parameter, tool: Tool, said: Said, used: set[str]) -> Json:
    parts = frozenset(parameter.words)

    def first(kind: str) -> str | None:
        return next((e.text for e in said.values if e.kind == kind and e.text not in used), None)

    if _is_date(parameter):
        return first("date")
    if "email" in parts:
        return first("email")
    if parts & {"phone", "telephone", "mobile"}:
        return first("phone")
    if parts & _REASONING:
        because = _BECAUSE.search(said.text)
        reason = because.group(1).strip() if because else None
        quoted = first("quoted") if not _wants_name(tool, parameter) else None
        return quoted if "reason" not in parts else reason or quoted
    if parts & _NAMING and not parts & (_PERSONS - {"name"}):
        called = _CALLED.search(said.text)
        return first("quoted") or (called.group(1) if called else None) or _person(parts, said)
    if parts & _PERSONS:
        return _person(parts, said) or first("email")
    if parameter.required and _has_one_quote(said):
        return first("quoted")
    become = _BECOMES.search(said.text) if _CHANGES & tool.verb_acts else None
    return become.group(1) if become else None


def _wants_name(tool: Tool, parameter: Parameter) -> bool:
    """Whether a quoted text rather is the name or title that the tool wants as well."""
    return any(frozenset(each.words) & _NAMING for each in tool.required if each is not parameter)


def _person(parts: frozenset[str], said: Said) -> str | None:
    found = [str(name) for name in _PERSON.findall(said.text) if name.lower() not in {"the", "i"}]
    if not found:
        return None
    if "first" in parts:
        return found[0].split()[0]
    if "last" in parts:
        return found[0].split()[-1] if " " in found[0] else None
    return found[0] if parts & _PERSONS else None


def _has_one_quote(said: Said) -> bool:
    return sum(each.kind == "quoted" for each in said.values) == 1


def is_free_text(parameter: Parameter) -> bool:
    """Whether the user's own words will do, as for a reason or a summary."""
    return (
        parameter.kind == "string"
        and not parameter.choices
        and not parameter.is_id
        and bool(frozenset(parameter.words) & _REASONING)
    )


_LEAD_IN: Final = re.compile(
    r"^\W*(?:(?:it(?:'s| is)|that(?:'s| is| would be)|this is|sure|yes|ok|please use|use|make it|"
    r"the [\w ]{1,30} is|my [\w ]{1,30} is|i(?:'m| am))[,:]?\s+)+",
    re.I,
)


def bare(text: str) -> str:
    """The answer to a question without the words that lead in to it: "It is 40." gives `40`."""
    return _LEAD_IN.sub("", text.strip()).strip().rstrip(".!").strip("\"'")


# -- from what is known ------------------------------------------------------------------------


def from_known(parameter: Parameter, tool: Tool, known: Mapping[str, Json], said: str) -> Json:
    """The value that the facts hold for a parameter; None where they hold none, or several.

    A record of the very name wins; of a list, the one record that the user's words point to.
    """
    if parameter.kind == "object" or parameter.choices:
        return None
    exact = _only(
        fact[parameter.name]
        for fact in known.values()
        if isinstance(fact, dict) and _fits(parameter, fact.get(parameter.name))
    )
    if exact is not None or not parameter.is_id:
        return exact
    entity = parameter.entity or tool.entity
    record = known.get(entity)
    if isinstance(record, dict) and _fits(parameter, record.get("id")):
        return record["id"]
    return _only(_pointed_at(parameter, known, said))


def _pointed_at(parameter: Parameter, known: Mapping[str, Json], said: str) -> Iterable[Json]:
    spoken = said.lower()
    for name, fact in known.items():
        if not isinstance(fact, list):
            continue
        of_entity = stem(name) == stem(parameter.entity)
        for row in fact[:200]:
            if not isinstance(row, dict):
                continue
            own = row.get(parameter.name, row.get("id") if of_entity else None)
            texts = [v for v in row.values() if isinstance(v, str) and len(v) > 3 and v != own]
            if _fits(parameter, own) and (
                len(fact) == 1 or any(text.lower() in spoken for text in texts)
            ):
                yield own


def _fits(parameter: Parameter, value: Json) -> bool:
    if parameter.kind in {"integer", "number", "boolean", "array"}:
        return is_of(value, parameter.kind)
    return isinstance(value, str) and 0 < len(value) <= LONGEST_SLOT


def _only(values: Iterable[Json]) -> Json:
    different: list[Json] = []
    for value in values:
        if value not in different:
            different.append(value)
    return different[0] if len(different) == 1 else None
