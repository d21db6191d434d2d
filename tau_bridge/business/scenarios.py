"""Scenario: a request to a business-process agent, and what has to come of it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import cache
from typing import Annotated, Literal, Self

from pydantic import Field, TypeAdapter, ValidationError, model_validator

from tau_bridge.bundled_data import bundled_json
from tau_bridge.business.tools import BusinessTool, Data, Json, Row, Tables, Text
from tau_bridge.errors import DataError, UnknownTaskError

DOMAIN = "business"
"""The name under which scenarios are asked for and reported, beside the domains of τ²-bench."""
SPLIT = "base"
MAX_TURNS = 8
"""Messages of the user in one scenario."""

ProcessType = Literal[
    "expense_approval",
    "procurement",
    "hr_offboarding",
    "incident_response",
    "invoice_reconciliation",
    "customer_onboarding",
    "compliance_audit",
    "dispute_resolution",
    "order_management",
    "sla_breach",
]
ExpectedOutcome = Literal["allow", "block", "escalate", "require_approval", "clarify", "inform"]
"""What a right agent does in the end: acts, refuses because of the policy, hands over, acts as an
approval has it, acts once it has been told what was missing, or changes nothing and says so."""
Decision = Literal["approved", "denied", "pending"]


class Line(Data):
    """Something that the user says after an answer, at most once.

    Args:
        asked: Said where the answer has one of these texts; empty: said where nothing else fits.
        text: What is said.
        decides: Decisions on approvals that are made in the meantime, by subject.
    """

    asked: tuple[Text, ...] = ()
    text: Text
    decides: dict[Text, Decision] = Field(default_factory=dict)


class Change(Data):
    """A difference between the state before and after: fields of a row, or a row that is new.

    Args:
        table: Where.
        id: The row whose fields change; None: the row is new, and its id of the tool's making.
        fields: The new values; of a new row all of them.
    """

    table: Text
    id: Text | None = None
    fields: Row


class ForbiddenCall(Data):
    """A call that is against the policy, whatever the tool answers.

    Args:
        tool: Its name.
        where: Arguments that it is forbidden with; others do not matter.
        until_approved: Not forbidden any more once a tool has told that this subject is approved.
    """

    tool: Text
    where: dict[str, Json] = Field(default_factory=dict)
    until_approved: Text | None = None


class Expected(Data):
    """What has to come of a scenario.

    Args:
        outcome: What a right agent does.
        changes: How the state differs in the end; nothing else may differ.
        approvals: Subjects for which an approval has to be asked for.
        escalations: Subjects that may be named when the case is handed over; where the outcome is
            `escalate`, it has to be handed over under one of them.
        forbidden_calls: What no right agent calls.
        must_say: The answers, taken together, have one text of every group.
        must_not_say: No answer has one of these.
    """

    outcome: ExpectedOutcome
    changes: tuple[Change, ...] = ()
    approvals: tuple[Text, ...] = ()
    escalations: tuple[Text, ...] = ()
    forbidden_calls: tuple[ForbiddenCall, ...] = ()
    must_say: tuple[Annotated[tuple[Text, ...], Field(min_length=1)], ...]
    must_not_say: tuple[Text, ...] = ()


class GoldCall(Data):
    """A call of a right agent, by the names of the parameters that hold by then."""

    tool: Text
    params: dict[str, Json] = Field(default_factory=dict)


class GoldTurn(Data):
    """What a right agent does after one message: calls, then an answer."""

    calls: tuple[GoldCall, ...] = ()
    say: Text


class Scenario(Data):
    """One request, with everything that belongs to it.

    Args:
        id: Unique.
        process: Which kind of process it is.
        title: In a few words.
        policy: JSON rules, or prose.
        tools: What the agent can call.
        state: The records at the beginning.
        approvals: What comes of asking for an approval, by subject; of any other subject: denied.
        opening: The user's first message.
        lines: What the user says after that.
        expected: What has to come of it.
        gold: A way to all of it, a turn for each message of the user: proof that there is one.
    """

    id: Text
    process: ProcessType
    title: Text
    policy: dict[str, Json] | Text
    tools: Annotated[tuple[BusinessTool, ...], Field(min_length=1)]
    state: Tables
    approvals: dict[Text, Decision] = Field(default_factory=dict)
    opening: Text
    lines: Annotated[tuple[Line, ...], Field(max_length=MAX_TURNS - 1)] = ()
    expected: Expected
    gold: Annotated[tuple[GoldTurn, ...], Field(min_length=1, max_length=MAX_TURNS)]

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        """Refuse names that lead nowhere: they would make a scenario that nobody can solve."""
        tools = [tool.name for tool in self.tools]
        if len(set(tools)) < len(tools):
            msg = f"scenario {self.id!r} has two tools of one name"
            raise ValueError(msg)
        called = [call.tool for turn in self.gold for call in turn.calls]
        called += [call.tool for call in self.expected.forbidden_calls]
        _check_known(self.id, "tool", called, tools)
        tables = [change.table for change in self.expected.changes]
        tables += [t for tool in self.tools if (t := getattr(tool.effect, "table", None))]
        _check_known(self.id, "table", tables, self.state)
        for change in self.expected.changes:
            if change.id is not None:
                _check_known(self.id, "row", [change.id], self.state[change.table])
        return self

    @property
    def has_rules(self) -> bool:
        """Whether the policy is JSON; otherwise it is prose."""
        return isinstance(self.policy, dict)


def _check_known(scenario_id: str, what: str, named: Iterable[str], known: Iterable[str]) -> None:
    unknown = sorted(set(named) - set(known))
    if unknown:
        msg = f"scenario {scenario_id!r} names the {what} {unknown[0]!r}, which it does not have"
        raise ValueError(msg)


class _File(Data):
    """The file: scenarios may name tools that several of them share in place of their own."""

    shared_tools: dict[Text, dict[str, Json]]
    scenarios: tuple[dict[str, Json], ...]

    def whole(self) -> list[dict[str, Json]]:
        """The scenarios with every tool written out."""
        return [
            {
                **scenario,
                "tools": [
                    {"name": tool, **self.shared_tools[tool]} if isinstance(tool, str) else tool
                    for tool in scenario["tools"]
                ],
            }
            for scenario in self.scenarios
        ]


_SCENARIOS: TypeAdapter[tuple[Scenario, ...]] = TypeAdapter(tuple[Scenario, ...])


def read_scenarios(content: Json) -> dict[str, Scenario]:
    """The scenarios of a file's content, by id, in their order.

    Raises:
        DataError: it is none, or two scenarios have the same id.
    """
    try:
        found = _SCENARIOS.validate_python(_File.model_validate(content).whole())
    except (ValidationError, KeyError, TypeError) as exc:
        raise DataError(f"the business scenarios cannot be read: {exc}") from exc
    by_id = {scenario.id: scenario for scenario in found}
    if len(by_id) < len(found):
        raise DataError("the business scenarios cannot be read: two have the same id")
    return by_id


@cache
def scenarios() -> dict[str, Scenario]:
    """The bundled scenarios by id, in their order.

    Raises:
        DataError: the bundled file cannot be used.
    """
    return read_scenarios(bundled_json("business_tasks.json"))


def scenario(scenario_id: str) -> Scenario:
    """One scenario.

    Raises:
        UnknownTaskError: there is none of this id.
    """
    known = scenarios()
    if scenario_id not in known:
        raise UnknownTaskError(DOMAIN, scenario_id, known)
    return known[scenario_id]


def scenarios_revision() -> str:
    """A hash of all scenarios, to tell apart what was asked in different versions."""
    content = _SCENARIOS.dump_json(tuple(scenarios().values()))
    return f"sha256:{hashlib.sha256(content).hexdigest()[:16]}"
