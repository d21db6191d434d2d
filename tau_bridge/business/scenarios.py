"""Scenario: a request to a business-process agent, and the expected outcome."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Literal, Self

from pydantic import Field, TypeAdapter, model_validator

from tau_bridge.bundled_data import bundled_json, one_of, revision_of_records
from tau_bridge.business.tools import (
    BusinessTool,
    Data,
    Insert,
    Json,
    Row,
    SetFields,
    Tables,
    Text,
    check_known,
)
from tau_bridge.errors import DataError
from tau_bridge.sampling import TaskKind

DOMAIN = "business"
"""The name of the domain in requests and reports."""
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
"""The right thing to do in the end: act, refuse because of the policy, hand over to a person, act as
an approval decides, act once missing details are known, or change nothing and say so."""
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
    """The expected outcome of a scenario.

    Args:
        outcome: The right thing to do.
        changes: How the state differs in the end; nothing else may differ.
        approvals: Subjects for which an approval has to be asked for.
        escalations: Subjects that may be named when the case is handed over; where the outcome is
            `escalate`, it has to be handed over under one of them.
        forbidden_calls: Calls against the policy.
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
    """A call of the gold solution, with the parameter names that hold by then."""

    tool: Text
    params: dict[str, Json] = Field(default_factory=dict)


class GoldTurn(Data):
    """The gold solution's response to one message: calls, then an answer."""

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
        expected: The expected outcome.
        gold: A solution, a turn for each message of the user: proof that there is one.
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
        """Refuse names that nothing has: nobody could solve the scenario."""
        tools = [tool.name for tool in self.tools]
        if len(set(tools)) < len(tools):
            raise ValueError(f"scenario {self.id!r} has two tools of one name")
        self._check_tables()
        self._check_calls()
        return self

    def _check_tables(self) -> None:
        for tool in self.tools:
            tables = (
                getattr(tool.effect, "table", None),
                *getattr(tool.effect, "refers", {}).values(),
            )
            check_known(self._name, "table", [each for each in tables if each], self.state)
        for tool in self.tools:
            if isinstance(tool.effect, SetFields):
                columns = self._columns(tool.effect.table)
                check_known(self._name, "field", tool.effect.needs, columns)
        for change in self.expected.changes:
            check_known(self._name, "table", [change.table], self.state)
            if change.id is not None:
                check_known(self._name, "row", [change.id], self.state[change.table])
            check_known(self._name, "field", change.fields, self._columns(change.table))

    def _columns(self, table: str) -> set[str]:
        """List the fields that rows of a table have, or get from a tool."""
        effects = [tool.effect for tool in self.tools]
        written = [
            e.fields for e in effects if isinstance(e, SetFields | Insert) and e.table == table
        ]
        return {column for fields in (*self.state[table].values(), *written) for column in fields}

    def _check_calls(self) -> None:
        tools = {tool.name: tool for tool in self.tools}
        calls = [(call.tool, call.where) for call in self.expected.forbidden_calls]
        calls += [(call.tool, call.params) for turn in self.gold for call in turn.calls]
        check_known(self._name, "tool", [name for name, _ in calls], tools)
        for name, arguments in calls:
            taken = {*tools[name].input_schema.get("properties", {}), *tools[name].drift.values()}
            check_known(self._name, f"parameter of {name}", arguments, taken)

    @property
    def _name(self) -> str:
        return f"scenario {self.id!r}"

    @property
    def has_rules(self) -> bool:
        """Tell whether the policy is JSON rules, not prose."""
        return isinstance(self.policy, dict)

    @property
    def kind(self) -> TaskKind:
        """The kind of task: the expected outcome, and the process."""
        expected = self.expected
        return TaskKind(
            asks_nothing=not (
                expected.changes or expected.approvals or expected.escalations or expected.must_say
            ),
            traits=(expected.outcome, self.process),
        )


class _File(Data):
    """The file: scenarios may name tools that several of them share in place of their own."""

    shared_tools: dict[Text, dict[str, Json]]
    scenarios: tuple[dict[str, Json], ...]

    def whole(self) -> list[dict[str, Json]]:
        """Return the scenarios with every tool written out."""
        return [
            {
                **scenario,
                "tools": [self._tool(scenario, tool) for tool in scenario.get("tools", ())],
            }
            for scenario in self.scenarios
        ]

    def _tool(self, scenario: dict[str, Json], tool: Json) -> Json:
        if not isinstance(tool, str):
            return tool
        owner = f"scenario {scenario.get('id')!r}"
        check_known(owner, "shared tool", [tool], self.shared_tools)
        return {"name": tool, **self.shared_tools[tool]}


_SCENARIOS: TypeAdapter[tuple[Scenario, ...]] = TypeAdapter(tuple[Scenario, ...])


def read_scenarios(content: Json) -> dict[str, Scenario]:
    """Read the scenarios of a file's content, by id, in their order.

    Raises:
        DataError: The content is not valid, or two scenarios have the same id.
    """
    try:
        found = _SCENARIOS.validate_python(_File.model_validate(content).whole())
    except (ValueError, TypeError) as exc:
        raise DataError(f"the business scenarios cannot be read: {exc}") from exc
    by_id = {scenario.id: scenario for scenario in found}
    if len(by_id) < len(found):
        raise DataError("the business scenarios cannot be read: two have the same id")
    return by_id


@cache
def scenarios() -> dict[str, Scenario]:
    """Return the bundled scenarios by id, in their order.

    Raises:
        DataError: The bundled file cannot be used.
    """
    return read_scenarios(bundled_json("business_tasks.json"))


def scenario(scenario_id: str) -> Scenario:
    """Return one scenario.

    Raises:
        UnknownTaskError: There is no scenario of this id.
    """
    return one_of(DOMAIN, scenarios(), scenario_id)


def scenarios_revision() -> str:
    """Return a hash of all scenarios, which tells versions of them apart."""
    return revision_of_records(scenarios().values())
