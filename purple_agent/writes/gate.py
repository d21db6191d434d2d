"""The write gate: judges a call by the policy and the process before it is made.

Reads and control tools always pass. A write passes if the policy allows it over the known facts, or
a tool confirmed the required approval, and if the process is in state EXECUTE.

A loop that makes calls does this for each of them::

    ruling = decide(session, call)          # judges, and moves session.process
    if ruling.passes:
        ...                                 # make it; refusal(session, call) is empty now
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from purple_agent import facts
from purple_agent.case import Session, ToolCall
from purple_agent.policy.rules import WHOLE, Action, Policy, Verdict
from purple_agent.process.machine import (
    Approval,
    ApprovalStatus,
    Evidence,
    Sign,
    State,
    may_write,
    rules_key,
)
from purple_agent.toolbox.control import control_of
from purple_agent.toolbox.failures import CallFailure, Cause
from purple_agent.toolbox.verbs import entity_of, words_of

POLICY_MISSING = (
    "This cannot be done now: the policy of this conversation is no longer known here. Please send "
    "it again along with the request."
)
MAX_NAMED = 5
"""Most rules or paths to name in a reason."""

LONGEST_SUBJECT = 200
SHOWN_OF_LONG = 150


@dataclass(frozen=True, kw_only=True)
class RefusedCall(CallFailure):
    """The result of a call that the gate did not let pass."""

    cause: Cause = Cause.UNSENT


@dataclass(frozen=True, kw_only=True)
class Ruling:
    """The gate's decision on a call.

    Args:
        action: `allow` or `warn`: make the call. `require_approval`: request one (or wait, see
            `approval`). `escalate`: a human must decide. `block`: it cannot be done, for example
            because the approval was denied.
        reason: The reason for the user, with the ids of the rules.
        unknown: The unknown or incomparable paths that restrictive rules need. If reads may provide
            them, read first and judge again.
        needs: The entities at the start of these paths: `("expense",)`.
        rules: The ids of the deciding rules.
        warnings: The `warn` rules that apply, by id or in words.
        levels: The people who must approve, if the rules name them.
        subject: The id for which an approval must be requested.
        approval: A tool's statement on that approval; None if none was requested.
        tool: The tool whose use needs or has an approval.
        free: True for a read or a control tool, for which policy and state do not matter.
    """

    action: Action
    reason: str
    unknown: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    levels: tuple[str, ...] = ()
    subject: str = ""
    approval: Approval | None = None
    tool: str = ""
    free: bool = False

    @property
    def passes(self) -> bool:
        """Tell whether the policy lets the call be made."""
        return not self.action.is_restrictive

    @property
    def evidence(self) -> Evidence:
        """Return the ruling as evidence for the process."""
        sign = {
            Action.BLOCK: Sign.BLOCKED,
            Action.ESCALATE: Sign.ESCALATION_NEEDED,
            Action.REQUIRE_APPROVAL: Sign.APPROVAL_NEEDED,
        }.get(self.action, Sign.ALLOWED)
        if not self.tool:
            return Evidence(sign=sign, detail=self.reason)
        return Evidence(
            sign=sign,
            subject=self.subject,
            tool=self.tool,
            rules=rules_key(self.rules),
            detail=self.reason,
        )


def rule_on(session: Session, call: ToolCall) -> Ruling:
    """Judge a call by the policy over the known facts. Changes nothing, never raises."""
    if _is_free(session, call):
        return Ruling(action=Action.ALLOW, reason="It changes nothing.", free=True)
    if session.policy_missing:
        return Ruling(action=Action.BLOCK, reason=POLICY_MISSING, subject=subject_of(call))
    verdict = session.policy.judge(_facts(session, call))
    subject = subject_of(call)
    if verdict.undecided and verdict.action is not Action.BLOCK:
        return _undecided(session.policy, verdict, subject)
    if verdict.action is Action.REQUIRE_APPROVAL:
        return _approval(session, call, verdict)
    return _decided(session.policy, verdict, subject)


def decide(session: Session, call: ToolCall) -> Ruling:
    """Rule on a call, and advance the session's process by the ruling.

    If a read may still provide a write's unknown paths, use `rule_on` first: `decide` treats them
    as finally unknown and escalates.
    """
    ruling = rule_on(session, call)
    if not ruling.free:
        process = session.process
        if process.state is State.DECOMPOSE:
            process = process.advance(Evidence(sign=Sign.UNDERSTOOD))
        session.process = process.advance(Evidence(sign=Sign.ASSESSED), ruling.evidence)
    return ruling


def refusal(session: Session, call: ToolCall) -> str:
    """Return the reason, for the user, why a call must not be made now; empty if it may.

    Call this right before a call is sent, because the decision to make it may be wrong.
    """
    ruling = rule_on(session, call)
    if ruling.free:
        return ""
    if not ruling.passes:
        return ruling.reason
    if not may_write(session.process):
        return f"Nothing may be changed while the process stands in {session.process.state}."
    return ""


def subject_of(call: ToolCall) -> str:
    """Return the subject of a call, for which an approval is requested and looked up.

    It is the id among its arguments (see `named_id`), else the whole call, so that its approval
    does not count for a different call.
    """
    return named_id(call) or _whole(call)


def named_id(call: ToolCall, *, but: Collection[str] = ()) -> str:
    """Return the id of a call's subject; empty if its arguments have none.

    It is the argument `<entity>_id` for the entity in the tool's name (`update_order` ->
    `order_id`), else `subject_id`, `id`, or the first argument whose name ends in `_id`. Spelling
    does not matter: `orderId` is `order_id`.

    Args:
        call: The call.
        but: Names that do not count, such as `order_id`.
    """
    given = {"_".join(words_of(name)): value for name, value in call.arguments.items()}
    ids = [name for name in given if name.endswith("_id")]
    for name in (f"{entity_of(call.name)}_id", "subject_id", "id", *ids):
        value = None if name in but else given.get(name)
        if isinstance(value, str | int | float) and not isinstance(value, bool) and value != "":
            return str(value)[:LONGEST_SUBJECT]
    return ""


def _whole(call: ToolCall) -> str:
    """Return a call as one text, shortened to its beginning and a hash if it is long."""
    if not call.arguments:
        return call.name[:LONGEST_SUBJECT]
    arguments = json.dumps(dict(call.arguments), sort_keys=True, default=repr)
    text = f"{call.name} {arguments}"
    if len(text) <= LONGEST_SUBJECT:
        return text
    return f"{text[:SHOWN_OF_LONG]}... {hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:32]}"


def _is_free(session: Session, call: ToolCall) -> bool:
    """Tell whether a tool with exactly this name exists and is a read or a control tool.

    A name that is not listed could be repaired to that of any other tool.
    """
    spec = session.spec(call.name)
    return spec is not None and (not spec.is_write or control_of(call.name) is not None)


def _facts(session: Session, call: ToolCall) -> dict[str, Any]:
    """Return the known facts about the call's own records.

    Facts about another record of the same kind, such as an `expense` with another id than the
    call's `expense_id`, do not count.
    """
    entity = entity_of(call.name)
    own = facts.about(session, call.arguments, facts.results_of(session))
    known = {
        name: value
        for name, value in own.items()
        if not facts.is_of_another(name, value, call.arguments, is_subject=name == entity)
    }
    return {**known, "request": call.arguments}


def _undecided(policy: Policy, verdict: Verdict, subject: str) -> Ruling:
    """Rule on a call for which a stricter rule is undecided: a human decides."""
    paths = sorted({path for rule in verdict.undecided for path in verdict.unknown.get(rule, ())})
    parts = []
    are = "is" if len(paths) == 1 else "are"
    if open_ := [rule for rule in verdict.undecided if verdict.unknown.get(rule)]:
        parts.append(f"{_named(open_)} cannot be judged, because {_list(paths)} {are} not known")
    if bad := [rule for rule in verdict.undecided if rule not in open_ and rule != WHOLE]:
        parts.append(f"{_named(bad)} cannot be read")
    if policy.unreadable:
        parts.append(f"the policy cannot be read ({policy.problem})")
    reason = "; ".join(parts)
    return Ruling(
        action=Action.ESCALATE,
        reason=f"This has to be escalated to a human: {reason}.",
        unknown=tuple(paths),
        needs=tuple(dict.fromkeys(path.partition(".")[0] for path in paths)),
        rules=verdict.undecided,
        warnings=_warnings(policy, verdict),
        subject=subject,
    )


def _approval(session: Session, call: ToolCall, verdict: Verdict) -> Ruling:
    """Rule on a call that needs an approval, by the approval's status."""
    subject = subject_of(call)
    approval = _counting(session, call, verdict)
    status = approval.status if approval else None
    rules = _named(verdict.decisive)
    by = f" by {_list(verdict.levels)}" if verdict.levels else ""
    said = f" by {approval.by}" if approval and approval.by else ""
    action, reason = {
        None: (Action.REQUIRE_APPROVAL, f"{rules} asks for an approval{by} of {subject}."),
        ApprovalStatus.PENDING: (
            Action.REQUIRE_APPROVAL,
            f"The approval{by} of {subject} that {rules} asks for is pending.",
        ),
        ApprovalStatus.DENIED: (
            Action.BLOCK,
            f"This cannot be done: {subject} is not approved. The approval that {rules} asks for "
            f"was denied{said}.",
        ),
        ApprovalStatus.GRANTED: (
            Action.ALLOW,
            f"{subject} is approved{said}, as {rules} asks for.",
        ),
    }[status]
    return Ruling(
        action=action,
        reason=reason[:1].upper() + reason[1:],
        rules=verdict.decisive,
        warnings=_warnings(session.policy, verdict),
        levels=verdict.levels,
        subject=subject,
        approval=approval,
        tool=call.name,
    )


def _counting(session: Session, call: ToolCall, verdict: Verdict) -> Approval | None:
    """Return the approval that counts: requested for this use of the tool, or for no specific one.

    A tool that is no longer listed may have been renamed.
    """
    key = rules_key(verdict.decisive)
    for each in session.process.approvals_of(subject_of(call)):
        renamed = session.spec(each.tool) is None
        if not each.tool or (each.rules == key and (each.tool == call.name or renamed)):
            return each
    return None


def _decided(policy: Policy, verdict: Verdict, subject: str) -> Ruling:
    rules = _named(verdict.decisive)
    warnings = _warnings(policy, verdict)
    reason = {
        Action.BLOCK: f"This cannot be done: it is blocked by policy, {rules}.",
        Action.ESCALATE: f"This has to be escalated to a human, as {rules} asks for.",
        Action.WARN: f"This is allowed, with a warning: {_list(warnings)}.",
        Action.ALLOW: "The policy allows this.",
    }[verdict.action]
    return Ruling(
        action=verdict.action,
        reason=reason,
        rules=verdict.decisive,
        warnings=warnings,
        levels=verdict.levels,
        subject=subject,
    )


def _warnings(policy: Policy, verdict: Verdict) -> tuple[str, ...]:
    """Return the applying `warn` rules by id, with the description if there is one."""
    said = []
    for rule_id in verdict.warnings:
        rule = policy.rule(rule_id)
        said.append(f"{rule_id}: {rule.description}" if rule and rule.description else rule_id)
    return tuple(said)


def _named(rules: tuple[str, ...] | list[str]) -> str:
    return f"rule {rules[0]}" if len(rules) == 1 else f"rules {_list(rules)}"


def _list(items: tuple[str, ...] | list[str]) -> str:
    shown = ", ".join(items[:MAX_NAMED])
    return f"{shown} and others" if len(items) > MAX_NAMED else shown
