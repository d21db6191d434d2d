"""BusinessWorld: the records of one trial, and the effects of tools on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import assert_never

from tau_bridge.business.arguments import argument_error
from tau_bridge.business.scenarios import Decision, Scenario
from tau_bridge.business.tools import (
    BusinessTool,
    Escalate,
    Find,
    Get,
    GetApproval,
    Insert,
    Json,
    RequestApproval,
    Row,
    SetFields,
    Tables,
    parameters_in,
)
from tau_bridge.phrases import contains_phrase, normalize

UNAVAILABLE = "503 service unavailable: the request was not carried out, try again later"
_FIRST_NEW_ID = 9001


@dataclass(frozen=True, kw_only=True)
class CallMade:
    """A call that an agent made.

    Args:
        tool: Its name, whether or not there is such a tool.
        arguments: By the names that were listed first if the call is well formed; otherwise as
            they came.
        well_formed: There is such a tool, and the arguments fit its schema.
        error: The error that was answered, if any.
        result: The result that was answered otherwise.
        approved_before: Subjects that tools had reported as approved before.
    """

    tool: str
    arguments: Mapping[str, Json]
    well_formed: bool
    error: str | None
    result: Json
    approved_before: frozenset[str]


class _RefusedError(Exception):
    """A tool refuses a call. The message is for the agent."""


class BusinessWorld:
    """The state of one trial. Rows are replaced, never changed in place.

    Args:
        scenario: The scenario with the initial records and the tools.
    """

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.tables: Tables = {name: dict(rows) for name, rows in scenario.state.items()}
        self.calls: list[CallMade] = []
        self.escalated: list[str] = []
        """Subjects that were handed over to a person, in order."""
        self._tools = {tool.name: tool for tool in scenario.tools}
        self._decisions: dict[str, Decision] = dict(scenario.approvals)
        self._approvals: dict[str, str] = {}
        self._known_approved: set[str] = set()

    @property
    def approvals_asked(self) -> frozenset[str]:
        """The subjects for which an approval was requested."""
        return frozenset(self._approvals.values())

    def decide(self, decisions: Mapping[str, Decision]) -> None:
        """Decide on approvals, as a person does outside of the tools."""
        self._decisions.update(decisions)

    def listed(self) -> list[dict[str, Json]]:
        """List the tools as they are now: once a tool was called its parameters have new names."""
        called = {call.tool for call in self.calls}
        return [tool.listed(drifted=tool.name in called) for tool in self.scenario.tools]

    def call(self, name: str, arguments: dict[str, Json]) -> CallMade:
        """Make a call and record it."""
        approved = frozenset(self._known_approved)
        tool = self._tools.get(name)
        error: str | None
        result: Json = None
        if tool is None:
            error = f"unknown tool {name[:60]!r}: there are {', '.join(sorted(self._tools))}"
        else:
            error = argument_error(tool.current_schema(), arguments)
        well_formed = error is None
        if tool is not None and well_formed:
            arguments = tool.by_listed_names(arguments)
            try:
                result = self._apply(tool, arguments)
            except _RefusedError as refused:
                error = str(refused)
        made = CallMade(
            tool=name,
            arguments=arguments,
            well_formed=well_formed,
            error=error,
            result=result,
            approved_before=approved,
        )
        self.calls.append(made)
        return made

    def _apply(self, tool: BusinessTool, arguments: dict[str, Json]) -> Json:
        if tool.fails == "always" or (tool.fails == "first" and not self._was_called(tool)):
            raise _RefusedError(UNAVAILABLE)
        match tool.effect:
            case Get() as effect:
                return self._get(effect.table, effect.key, arguments[effect.key])
            case Find() as effect:
                return self._find(effect, arguments)
            case SetFields() as effect:
                return self._set(effect, arguments)
            case Insert() as effect:
                return self._insert(effect, arguments)
            case RequestApproval():
                return self._request_approval(str(arguments["subject_id"]))
            case GetApproval():
                return self._approval_status(str(arguments["approval_id"]))
            case Escalate():
                return self._escalate(str(arguments["subject_id"]))
            case effect:
                assert_never(effect)

    def _was_called(self, tool: BusinessTool) -> bool:
        return any(call.tool == tool.name and call.well_formed for call in self.calls)

    def _row(self, table: str, row_id: Json) -> tuple[str, Row]:
        key = str(row_id)
        if key not in self.tables[table]:
            raise _RefusedError(f"404 not found: no record {key[:60]!r} in {table}")
        return key, self.tables[table][key]

    def _get(self, table: str, key: str, row_id: Json) -> Row:
        _, row = self._row(table, row_id)
        return {key: row_id, **row}

    def _find(self, effect: Find, arguments: dict[str, Json]) -> list[Row]:
        return [
            {effect.key: row_id, **row}
            for row_id, row in self.tables[effect.table].items()
            if all(
                _matches(row.get(name), arguments[name]) for name in effect.by if name in arguments
            )
        ]

    def _set(self, effect: SetFields, arguments: dict[str, Json]) -> Row:
        row_id, row = self._row(effect.table, arguments[effect.key])
        for column, needed in effect.needs.items():
            if row.get(column) != needed:
                raise _RefusedError(
                    f"409 conflict: {column} of {row_id} is {row.get(column)!r}, not {needed!r}"
                )
        self.tables[effect.table][row_id] = {**row, **_filled(effect.fields, arguments)}
        return self._get(effect.table, effect.key, arguments[effect.key])

    def _insert(self, effect: Insert, arguments: dict[str, Json]) -> Row:
        for name, table in effect.refers.items():
            if name in arguments:
                self._row(table, arguments[name])
        rows = self.tables[effect.table]
        added = len(rows) - len(self.scenario.state[effect.table])
        row_id = f"{effect.prefix}{_FIRST_NEW_ID + added}"
        rows[row_id] = _filled(effect.fields, arguments)
        return self._get(effect.table, effect.key, row_id)

    def _request_approval(self, subject: str) -> Row:
        approval_id = next(
            (known for known, about in self._approvals.items() if about == subject),
            f"AP-{len(self._approvals) + 1}",
        )
        self._approvals[approval_id] = subject
        return self._approval_status(approval_id)

    def _approval_status(self, approval_id: str) -> Row:
        subject = self._approvals.get(approval_id)
        if subject is None:
            raise _RefusedError(f"404 not found: no approval {approval_id[:60]!r}")
        decision = self._decisions.get(subject, "denied")
        if decision == "pending":
            return {"approval_id": approval_id, "subject_id": subject, "status": "pending"}
        if decision == "approved":
            self._known_approved.add(subject)
        return {
            "approval_id": approval_id,
            "subject_id": subject,
            "approved": decision == "approved",
        }

    def _escalate(self, subject: str) -> Row:
        self.escalated.append(subject)
        return {"escalated": True, "case_id": f"HUM-{len(self.escalated)}"}


def _matches(value: Json, wanted: Json) -> bool:
    if isinstance(value, str) and isinstance(wanted, str):
        return contains_phrase(normalize(value), wanted)
    return bool(value == wanted)


def _filled(fields: Mapping[str, Json], arguments: Mapping[str, Json]) -> Row:
    """Fill the columns of an effect; leave out those whose parameter is not given."""
    by_column = parameters_in(fields)
    return {
        column: arguments[by_column[column]] if column in by_column else value
        for column, value in fields.items()
        if column not in by_column or by_column[column] in arguments
    }
