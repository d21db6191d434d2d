"""Policy: rules with conditions, and their verdict over known facts.

No policy or fact makes this module raise. A rule that cannot be read, or a restrictive rule whose
condition cannot be decided, never counts as one that does not apply.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, NoReturn

from purple_agent.policy.language import ConditionError, read_condition
from purple_agent.policy.syntax import MISSING, TRUE_CONDITION, Condition, find

MAX_DOCUMENT_CHARS = 500_000
MAX_RULES = 1_000
MAX_CONDITION_CHARS = 100_000
"""Limit for all conditions of a policy: parsing takes about ten microseconds per character."""
MAX_ID_CHARS = 80
MAX_TEXT_CHARS = 300

WHOLE = "the policy"
"""Used as a rule's id if the whole document cannot be read."""


class Action(StrEnum):
    """The action of a rule, strictest first."""

    BLOCK = "block"
    ESCALATE = "escalate"
    REQUIRE_APPROVAL = "require_approval"
    WARN = "warn"
    ALLOW = "allow"

    @property
    def rank(self) -> int:
        """Return 0 for the strictest, `block`, to 4 for `allow`."""
        return _RANKS[self]

    @property
    def is_restrictive(self) -> bool:
        """Tell whether it prevents an immediate write."""
        return self.rank <= Action.REQUIRE_APPROVAL.rank


_RANKS = {action: rank for rank, action in enumerate(Action)}


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One rule of a policy.

    Args:
        id: The given id on one line, else `rule-<n>`; a number is added to a duplicate.
        action: The action; `block` if it cannot be read.
        condition: When the rule applies; None if it cannot be read.
        level: The person who must approve, if the rule names one.
        description: The rule in words, if the policy has them.
        problem: Why the rule is invalid; empty for a valid one.
    """

    id: str
    action: Action
    condition: Condition | None = None
    level: str = ""
    description: str = ""
    problem: str = ""


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """A policy's decision over the known facts.

    Args:
        action: The strictest action of the rules that certainly apply; `allow` if none does.
        decisive: The ids of the rules with this action, in the policy's order.
        warnings: The ids of the `warn` rules that apply.
        unknown: By rule id, for rules of every action, the paths that leave its condition
            undecided: they are missing, or their values cannot be compared.
        invalid: The ids of the rules that cannot be read.
        undecided: The ids of unknown or invalid restrictive rules that are stricter than `action`.
            If there are any, a write must not pass.
        levels: The people who must approve, according to the decisive rules.
    """

    action: Action = Action.ALLOW
    decisive: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    unknown: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    invalid: tuple[str, ...] = ()
    undecided: tuple[str, ...] = ()
    levels: tuple[str, ...] = ()

    @property
    def passes(self) -> bool:
        """Tell whether a write may be made without approval."""
        return not self.action.is_restrictive and not self.undecided


@dataclass(frozen=True, kw_only=True)
class Policy:
    """A policy document as rules; empty for prose.

    Args:
        rules: The rules in the document's order.
        context: Values that the document itself defines.
        problem: The problem with the document in a sentence; empty if there is none.
        unreadable: True if the document was meant as rules but cannot be read: no write passes.
        is_object: True if the document was an object, even without rules.
    """

    rules: tuple[Rule, ...] = ()
    context: Mapping[str, Any] = field(default_factory=dict)
    problem: str = ""
    unreadable: bool = False
    is_object: bool = field(default=False, compare=False)

    @property
    def is_prose(self) -> bool:
        """Tell whether the document is text that only the reasoner can follow."""
        return not (self.is_object or self.rules or self.unreadable)

    def rule(self, rule_id: str) -> Rule | None:
        """Return a rule by its id."""
        return next((rule for rule in self.rules if rule.id == rule_id), None)

    def judge(self, facts: Mapping[str, Any]) -> Verdict:
        """Judge over `context` and `facts`.

        A path is looked up in `context`, then in `facts`, so that a tool's result cannot override
        the policy; for a path that starts with `request`, in the opposite order.
        """

        def look_up(path: tuple[str, ...]) -> Any:
            first, second = self.context, facts
            if path[0] == "request":
                first, second = second, first
            found = find(first, path)
            return find(second, path) if found is MISSING else found

        applying: list[Rule] = []
        unknown: dict[str, tuple[str, ...]] = {}
        for rule in self.rules:
            if rule.condition is None or rule.problem:
                continue
            finding = rule.condition.judge(look_up)
            if finding.truth is None:
                unknown[rule.id] = tuple(sorted(finding.undecided))
            elif finding.truth:
                applying.append(rule)
        return self._verdict(applying, unknown)

    def _verdict(self, applying: list[Rule], unknown: dict[str, tuple[str, ...]]) -> Verdict:
        action = min(
            (rule.action for rule in applying), key=_RANKS.__getitem__, default=Action.ALLOW
        )
        decisive = [rule for rule in applying if rule.action is action]
        undecided = [
            rule.id
            for rule in self.rules
            if rule.action.is_restrictive
            and rule.action.rank < action.rank
            and (rule.problem or rule.id in unknown)
        ]
        whole = [WHOLE] if self.unreadable and action is not Action.BLOCK else []
        return Verdict(
            action=action,
            decisive=tuple(rule.id for rule in decisive),
            warnings=tuple(rule.id for rule in applying if rule.action is Action.WARN),
            unknown=unknown,
            invalid=tuple(rule.id for rule in self.rules if rule.problem),
            undecided=(*whole, *undecided),
            levels=tuple(dict.fromkeys(rule.level for rule in decisive if rule.level)),
        )


def read_policy(document: object) -> tuple[Policy, str]:
    """Read a policy document as rules, and as text.

    An object with `rules` (or its JSON text) is read as rules. Any other text is prose: its policy
    is empty, because only the reasoner can follow it. A text that starts like an object but is not
    one, and an object without `rules`, may be damaged rules: they are unreadable, and no write
    passes.

    Args:
        document: An object, a text, or None. Nothing in it makes this function raise.
    """
    if document is None:
        return Policy(), ""
    if isinstance(document, str):
        return _read_text(document)
    try:
        text = json.dumps(document, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return _unreadable("it is not JSON"), ""
    if len(text) > MAX_DOCUMENT_CHARS:
        return _too_long(text)
    return _read_object(document), text


def _read_text(text: str) -> tuple[Policy, str]:
    if len(text) > MAX_DOCUMENT_CHARS:
        return _too_long(text)
    if not text.lstrip("\ufeff \t\r\n").startswith("{"):
        return Policy(), text
    try:
        document = json.loads(
            text.lstrip("\ufeff"), object_pairs_hook=_object, parse_constant=_no_number
        )
    except (ValueError, RecursionError):
        return _unreadable("it starts like a JSON object but is not one"), text
    return _read_object(document), text


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Build a JSON object; refuse duplicate keys, which would hide a rule."""
    read = dict(pairs)
    if len(read) < len(pairs):
        raise ValueError("an object has a duplicate key")
    return read


def _no_number(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a JSON number")


def _too_long(text: str) -> tuple[Policy, str]:
    problem = f"it has {len(text)} characters, but at most {MAX_DOCUMENT_CHARS} are allowed"
    return _unreadable(problem), text[:MAX_DOCUMENT_CHARS]


def _unreadable(problem: str) -> Policy:
    return Policy(problem=problem, unreadable=True)


def _read_object(document: object) -> Policy:
    if document == {}:
        return Policy(is_object=True)
    if not isinstance(document, Mapping) or not isinstance(document.get("rules"), list):
        return _unreadable("it has no list of rules")
    given, context = document["rules"], document.get("context", {})
    if len(given) > MAX_RULES:
        return _unreadable(f"it has {len(given)} rules, but at most {MAX_RULES} are allowed")
    if sum(len(text) for text in map(_condition_text, given)) > MAX_CONDITION_CHARS:
        return _unreadable(f"its conditions have more than {MAX_CONDITION_CHARS} characters")
    if not isinstance(context, Mapping):
        return _unreadable("its context is not an object")
    rules = _with_ids([_read_rule(rule) for rule in given])
    faults = [f"{rule.id} {rule.problem}" for rule in rules if rule.problem]
    shown = "; ".join(faults[:5]) + (f"; {len(faults) - 5} more" if len(faults) > 5 else "")
    return Policy(rules=rules, context=context, problem=shown, is_object=True)


def _condition_text(rule: object) -> str:
    condition = rule.get("condition") if isinstance(rule, Mapping) else None
    return condition if isinstance(condition, str) else ""


def _read_rule(given: object) -> Rule:
    """Read a rule; a part that cannot be read makes it invalid and as strict as possible."""
    if not isinstance(given, Mapping):
        return Rule(id="", action=Action.BLOCK, problem="is not an object")
    rule = Rule(
        id=_line(given.get("id"), MAX_ID_CHARS),
        action=Action.BLOCK,
        level=_line(given.get("level"), MAX_ID_CHARS),
        description=_line(given.get("description", given.get("message")), MAX_TEXT_CHARS),
    )
    action = _action(given.get("action"))
    if action is None:
        return replace(rule, problem="has an action that is not one of " + ", ".join(Action))
    try:
        condition = _condition(given.get("condition"))
    except ConditionError as wrong:
        return replace(rule, action=action, problem=f"has a condition that {wrong}")
    return replace(rule, action=action, condition=condition)


def _condition(given: object) -> Condition:
    if given is True:
        return TRUE_CONDITION
    if not isinstance(given, str):
        raise ConditionError("is missing or not text")
    return read_condition(given)


def _action(given: object) -> Action | None:
    name = given if isinstance(given, str) else ""
    name = name.strip().lower().replace("-", "_").replace(" ", "_")
    return Action(name) if name in set(Action) else None


def _line(given: object, longest: int) -> str:
    """Return a text or number as a short text on one line; empty for anything else."""
    if isinstance(given, bool) or not isinstance(given, str | int | float):
        return ""
    if isinstance(given, float) and given.is_integer():
        given = int(given)  # A2A metadata turn all numbers into floats
    shown = "".join(sign if sign.isprintable() else " " for sign in str(given)[: 4 * longest])
    return " ".join(shown.split())[:longest]


def _with_ids(rules: Sequence[Rule]) -> tuple[Rule, ...]:
    """Give each rule a unique id, so that rules with the same id all count."""
    taken = {WHOLE}
    named = []
    for at, rule in enumerate(rules, start=1):
        chosen = rule.id or f"rule-{at}"
        while chosen in taken:
            chosen = f"{chosen} ({at})"
        taken.add(chosen)
        named.append(replace(rule, id=chosen))
    return tuple(named)
