"""Office: a small business in memory, with tools that work on its records.

A working fake of a tool provider: reads and writes act on tables, approvals are kept, and a tool
can be made to fail.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from purple_agent.case import (
    Case,
    Dialect,
    Entry,
    Incoming,
    Reply,
    Say,
    Session,
    ToolCall,
    ToolResult,
    ToolSpec,
)
from purple_agent.policy.rules import read_policy
from purple_agent.process.machine import Evidence, Sign, State
from purple_agent.reasoners.deterministic.reasoner import DeterministicReasoner
from purple_agent.stages.reasoner import ReasonerStage
from purple_agent.toolbox.failures import CallFailure
from purple_agent.toolbox.verbs import is_write

Act = Callable[[dict[str, Any]], Any]


class RefusedError(Exception):
    """A tool says no."""


class Office:
    """Tools over tables. Tables are lists of records by name; the first field is the key.

    Args:
        tables: `{"expense": {"E-1": {...}}}`.
        approvals: What becomes of a request for approval: `granted`, `denied` or `pending`.
    """

    def __init__(self, tables: Mapping[str, Any], *, approvals: str = "granted") -> None:
        self.tables: dict[str, dict[str, dict[str, Any]]] = copy.deepcopy(dict(tables))
        self.approvals = approvals
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.failures: dict[str, list[str]] = {}
        self._tools: dict[str, tuple[ToolSpec, Act]] = {}

    # -- building --------------------------------------------------------------------------

    def tool(
        self,
        name: str,
        description: str,
        act: Act,
        required: Mapping[str, Any] | None = None,
        optional: Mapping[str, Any] | None = None,
    ) -> Office:
        """One more tool; parameters are given with their schemas."""
        schema = {
            "type": "object",
            "properties": {**(required or {}), **(optional or {})},
            "required": list(required or {}),
        }
        spec = ToolSpec(
            name=name, description=description, parameters=schema, is_write=is_write(name)
        )
        self._tools[name] = (spec, act)
        return self

    def getter(self, entity: str) -> Office:
        """The tool `get_<entity>`."""
        key = f"{entity}_id"

        def act(given: dict[str, Any]) -> Any:
            return self.row(entity, given[key])

        return self.tool(f"get_{entity}", f"Get one {entity}.", act, {key: TEXT})

    def setter(
        self,
        name: str,
        entity: str,
        description: str,
        extra: Mapping[str, Any] | None = None,
        **fixed: Any,
    ) -> Office:
        """A tool that sets fields of a record: those given, and `fixed` ones."""
        key = f"{entity}_id"

        def act(given: dict[str, Any]) -> Any:
            row = self.row(entity, given[key])
            row.update({k: v for k, v in given.items() if k != key} | fixed)
            return row

        return self.tool(name, description, act, {key: TEXT, **(extra or {})})

    def adder(
        self,
        name: str,
        entity: str,
        prefix: str,
        required: Mapping[str, Any],
        optional: Mapping[str, Any] | None = None,
    ) -> Office:
        """A tool that adds a record with the next number."""
        table = self.tables.setdefault(entity, {})

        def act(given: dict[str, Any]) -> Any:
            key = f"{prefix}-{len(table) + 1}"
            table[key] = {f"{entity}_id": key, **given}
            return table[key]

        return self.tool(name, f"Create a {entity.replace('_', ' ')}.", act, required, optional)

    def controls(self) -> Office:
        """`request_approval`, `get_approval` and `escalate`."""
        self.tables.setdefault("approval", {})
        self.tables.setdefault("escalation", {})

        def request(given: dict[str, Any]) -> Any:
            number = f"APR-{len(self.tables['approval']) + 1}"
            self.tables["approval"][number] = dict(given)
            return self._approval(number)

        def escalate(given: dict[str, Any]) -> Any:
            self.tables["escalation"][given["subject_id"]] = dict(given)
            return {"escalated": True}

        both = {"subject_id": TEXT, "reason": TEXT}
        self.tool("request_approval", "Ask for an approval.", request, both)
        self.tool(
            "get_approval",
            "What became of an approval.",
            lambda given: self._approval(given["approval_id"]),
            {"approval_id": TEXT},
        )
        return self.tool("escalate", "Hand over to a human.", escalate, both)

    def _approval(self, number: str) -> dict[str, Any]:
        if self.approvals == "pending":
            return {"status": "pending", "approval_id": number}
        return {"approved": self.approvals == "granted", "approval_id": number}

    def row(self, entity: str, key: str) -> dict[str, Any]:
        """A record."""
        if key not in self.tables[entity]:
            raise RefusedError(f"{entity} {key} not found")
        return self.tables[entity][key]

    # -- the provider ----------------------------------------------------------------------

    @property
    def listed(self) -> tuple[ToolSpec, ...]:
        """All tools."""
        return tuple(spec for spec, _ in self._tools.values())

    async def specs(self) -> Sequence[ToolSpec]:
        """All tools."""
        return self.listed

    async def call(self, call: ToolCall) -> ToolResult:
        """What comes of a call."""
        self.calls.append((call.name, dict(call.arguments)))
        waiting = self.failures.get(call.name)
        if waiting:
            return ToolResult(text=waiting.pop(0), failed=True)
        spec, act = self._tools[call.name]
        lacking = [key for key in spec.parameters["required"] if key not in call.arguments]
        if lacking:
            return CallFailure(text=f"missing {', '.join(lacking)}")
        try:
            value = copy.deepcopy(act(dict(call.arguments)))
        except RefusedError as no:
            return CallFailure(text=str(no))
        return ToolResult(text=json.dumps(value), value=value)

    async def aclose(self) -> None:
        """Nothing to let go of."""

    def called(self, name: str) -> list[dict[str, Any]]:
        """The arguments of the calls of one tool."""
        return [given for tool, given in self.calls if tool == name]


TEXT = {"type": "string"}
NUMBER = {"type": "number"}


def choice(*values: str) -> dict[str, Any]:
    """The schema of one of some texts."""
    return {"type": "string", "enum": list(values)}


class Desk:
    """A conversation with the deterministic reasoner over an office."""

    def __init__(self, office: Office | None, policy: Any = None) -> None:
        self.office = office
        self.session = Session(context_id="c-1", dialect=Dialect.BUSINESS, tools=office)
        if office is not None:
            self.session.specs = office.listed
        if policy is not None:
            self.session.policy, self.session.policy_text = read_policy(policy)
        self.stage = ReasonerStage(DeterministicReasoner(), deadline_s=60.0, monotonic=lambda: 0.0)

    async def say(self, text: str) -> str:
        """What the agent answers."""
        session = self.session
        session.entries.append(Entry(role="user", text=text))
        if session.process.state in (State.COMPLETE, State.FAILED):
            session.process = session.process.next_request()
        if session.process.state is State.DECOMPOSE:
            session.process = session.process.advance(Evidence(sign=Sign.UNDERSTOOD))
        incoming = Incoming(context_id="c-1", message_id=f"m-{len(session.entries)}", text=text)
        case = await self.stage(Case(incoming=incoming, session=session))
        reply: Reply | None = case.reply
        assert isinstance(reply, Say)
        return reply.text
