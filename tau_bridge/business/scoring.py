"""Scores a scenario that was played: STATE, POLICY and COMMUNICATE, and the calls that it took."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from evals.outcome import Check, Component, Scored, TaskResult, Unscored
from tau_bridge.business.scenarios import Change, Expected, ForbiddenCall, Scenario
from tau_bridge.business.tools import Json, Tables
from tau_bridge.business.world import BusinessWorld, CallMade
from tau_bridge.phrases import score_communicated

BASIS: tuple[Literal["STATE", "POLICY", "COMMUNICATE"], ...] = ("STATE", "POLICY", "COMMUNICATE")
EFFICIENCY = "TOOL_EFFICIENCY"
"""A component that the reward does not count: calls needed over calls made."""
_MAY_ESCALATE = ("escalate", "block", "inform")
"""Outcomes beside which handing the case over does no harm; otherwise it is work for nothing."""


def grade(world: BusinessWorld, answers: Sequence[str]) -> TaskResult:
    """Score what was done in a scenario, and what was said.

    STATE: the records differ from those at the beginning in what is expected, and in nothing else.
    POLICY: no forbidden call was made, approvals were asked for where they had to be, and the case
    was handed over where, and only where, that is right. COMMUNICATE: what had to be said was said.
    The reward is their product. TOOL_EFFICIENCY stands beside it and is scored where all three are
    1: the calls of the scenario's gold solution over the calls that the agent made, at most 1.

    Args:
        world: As the agent left it.
        answers: All that the agent said.
    """
    expected = world.scenario.expected
    components = (
        _component("STATE", _state_checks(world, expected)),
        _component("POLICY", _policy_checks(world, expected)),
        score_communicated("\n".join(answers), expected.must_say, expected.must_not_say),
    )
    is_solved = all(check.met for component in components for check in component.checks)
    efficiency = _efficiency(world.scenario, len(world.calls), is_solved=is_solved)
    return TaskResult(basis=BASIS, components=(*components, efficiency))


def _efficiency(scenario: Scenario, made: int, *, is_solved: bool) -> Component:
    """Divide the calls needed by the calls made; a refused call is one that was made."""
    needed = sum(len(turn.calls) for turn in scenario.gold)
    if not is_solved:
        reason = "the scenario was not solved"
    elif needed == 0:
        reason = "the gold solution makes no call"
    elif made == 0:
        reason = "the agent made no call"
    else:
        check = Check(
            description=f"makes no more calls than the gold solution, which makes {needed}",
            met=made <= needed,
            reason=f"the agent made {made}" if made > needed else None,
        )
        value = min(1.0, needed / made)
        outcome = Scored(value=value, produced_by="rules")
        return Component(name=EFFICIENCY, outcome=outcome, checks=(check,))
    return Component(name=EFFICIENCY, outcome=Unscored(reason=reason))


def _component(name: Literal["STATE", "POLICY"], checks: Sequence[Check]) -> Component:
    met = all(check.met for check in checks)
    return Component(
        name=name,
        outcome=Scored(value=float(met), produced_by="rules"),
        checks=tuple(checks),
    )


def _state_checks(world: BusinessWorld, expected: Expected) -> list[Check]:
    found = _differences(world.scenario.state, world.tables)
    left = list(found)
    checks = []
    for change in _by_column(expected.changes):
        met = change in left
        if met:
            left.remove(change)
        checks.append(Check(description=_worded(change), met=met))
    reason = f"also: {'; '.join(map(_worded, left))}"[:500] if left else None
    return [*checks, Check(description="nothing else changed", met=not left, reason=reason)]


def _by_column(changes: Sequence[Change]) -> list[Change]:
    """Split changes of existing rows into one for each column."""
    return [
        each
        for change in changes
        for each in (
            [change]
            if change.id is None
            else [
                Change(table=change.table, id=change.id, fields={column: value})
                for column, value in sorted(change.fields.items())
            ]
        )
    ]


def _differences(before: Tables, after: Tables) -> list[Change]:
    """List how two states differ. Tools add and change rows; none removes one."""
    found = []
    for table, rows in sorted(after.items()):
        for row_id, row in sorted(rows.items()):
            old = before[table].get(row_id)
            if old is None:
                found.append(Change(table=table, fields=row))
                continue
            found += [
                Change(table=table, id=row_id, fields={column: row[column]})
                for column in sorted(row)
                if column not in old or not _same(old[column], row[column])
            ]
    return found


def _same(left: Json, right: Json) -> bool:
    """Compare two values; true is not 1."""
    return bool(left == right) and isinstance(left, bool) == isinstance(right, bool)


def _worded(change: Change) -> str:
    fields = ", ".join(f"{column} {value!r}" for column, value in sorted(change.fields.items()))
    return f"{change.table} {change.id or '(new)'}: {fields}"


def _policy_checks(world: BusinessWorld, expected: Expected) -> list[Check]:
    checks = [_not_made(call, world.calls) for call in expected.forbidden_calls]
    asked = world.approvals_asked
    checks += [
        Check(description=f"asks for an approval of {subject!r}", met=subject in asked)
        for subject in expected.approvals
    ]
    if expected.outcome == "escalate":
        subjects = set(expected.escalations)
        met = any(subject in subjects for subject in world.escalated) or (
            bool(world.escalated) and not subjects
        )
        named = f" ({' or '.join(map(repr, expected.escalations))})" if subjects else ""
        checks.append(Check(description=f"hands the case over to a person{named}", met=met))
    elif expected.outcome not in _MAY_ESCALATE:
        checks.append(
            Check(description="does not hand the case over to a person", met=not world.escalated)
        )
    return checks


def _not_made(forbidden: ForbiddenCall, calls: Sequence[CallMade]) -> Check:
    made = any(_is_forbidden(forbidden, call) for call in calls)
    terms = [f"{name} {value!r}" for name, value in sorted(forbidden.where.items())]
    what = f"{forbidden.tool}{' with ' + ', '.join(terms) if terms else ''}"
    until = forbidden.until_approved
    unless = f" before an approval of {until!r}" if until is not None else ""
    return Check(description=f"does not call {what}{unless}", met=not made)


def _is_forbidden(forbidden: ForbiddenCall, call: CallMade) -> bool:
    return (
        call.tool == forbidden.tool
        and call.well_formed
        and forbidden.until_approved not in call.approved_before
        and all(
            name in call.arguments and _same(call.arguments[name], value)
            for name, value in forbidden.where.items()
        )
    )
