"""Work: one goal carried on, a step at a time.

A step is a call to make, or the outcome of the goal in words. What was done so far is read off the
thread, so that nothing has to be remembered between two steps.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from purple_agent.case import Dialect, Json, Session, ToolCall, Use
from purple_agent.policy.rules import Action
from purple_agent.process.machine import ApprovalStatus
from purple_agent.reasoners.deterministic import identifiers, slots, wording
from purple_agent.reasoners.deterministic.acts import yes_or_no
from purple_agent.reasoners.deterministic.goals import Goal
from purple_agent.reasoners.deterministic.index import Parameter, Tool, ToolIndex
from purple_agent.reasoners.deterministic.prose import Prose
from purple_agent.reasoners.deterministic.said import Said
from purple_agent.reasoners.deterministic.transcript import PENDING, Made, Thread
from purple_agent.toolbox.control import Control
from purple_agent.toolbox.failures import Cause, cause_of
from purple_agent.writes.gate import RefusedCall, Ruling, rule_on

TRIES_OF_A_READ: Final = 2
_NOT_THERE: Final = re.compile(
    r"\b(?:not found|no such|does not exist|doesn't exist|unknown|not exist|no \w+ with|invalid)\b",
    re.I,
)


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How a goal stands where no call is left to make.

    Args:
        text: For the user.
        asks: It is a question, for which the goal waits.
        unable: Nothing of the goal could be done.
    """

    text: str
    asks: bool = False
    unable: bool = False


Step = Use | Outcome


@dataclass(frozen=True, kw_only=True)
class Work:
    """What every goal of a reply is worked on with."""

    session: Session
    thread: Thread
    index: ToolIndex
    prose: Prose
    known: Mapping[str, Json]

    # -- a change --------------------------------------------------------------------------

    def on_write(self, goal: Goal) -> Step:
        """The next step of a goal that changes something."""
        made = self._made_for(goal)
        if made is not None:
            return self._after_write(goal, made)
        read = self._read_for(goal)
        if read is not None:
            return read
        if goal.missing:
            text = wording.question_for(goal.tool.name, goal.missing)
            return Outcome(text=text, asks=True)
        lost = self._not_there(goal)
        if lost:
            return Outcome(text=lost)
        return self._judged(goal)

    def _made_for(self, goal: Goal) -> Made | None:
        """The write that was made for a goal: one that succeeded, or failed for this message.

        A tool that is no longer listed may have been named anew, so its calls count as well.
        """
        for made in reversed(self.thread.made):
            known = self.session.spec(made.call.name)
            fits = made.call.name == goal.tool.name or known is None
            if (
                fits
                and not isinstance(made.result, RefusedCall)
                and goal.is_done_by(made.call.arguments)
                and (not made.result.failed or (self._is_of_now(made) and known is not None))
            ):
                return made
        return None

    def _after_write(self, goal: Goal, made: Made) -> Step:
        if not made.result.failed:
            text = wording.done(made.call.name, made.call.arguments, made.result.value)
            return Outcome(text=f"{text}{self._remarks(made.call)}")
        if self._is_unsure(made):
            text = wording.unsure(goal.tool.name, goal.arguments, made.result.text)
            return self.escalated(text, subject=_first_id(goal.arguments))
        text = wording.failed(goal.tool.name, goal.arguments, made.result.text)
        if _NOT_THERE.search(made.result.text):
            return Outcome(text=f"{text} Nothing was changed. Please check what you gave me.")
        return self.escalated(text, subject=_first_id(goal.arguments))

    def _is_unsure(self, made: Made) -> bool:
        """Whether a write that failed may have been made all the same.

        On the τ² wire a failure is always what the tool itself said.
        """
        return self.session.dialect is Dialect.BUSINESS and cause_of(made.result) is Cause.WAY

    def _remarks(self, call: ToolCall) -> str:
        """What the policy has to say of a write that was made."""
        ruling = rule_on(self.session, call)
        remarks = ""
        if ruling.approval is not None and ruling.approval.status is ApprovalStatus.GRANTED:
            remarks += f" {ruling.reason}"
        if ruling.warnings:
            remarks += f" Please note the warning of the policy: {', '.join(ruling.warnings)}."
        return remarks

    def _judged(self, goal: Goal) -> Step:
        call = ToolCall(id="", name=goal.tool.name, arguments=goal.arguments)
        ruling = rule_on(self.session, call)
        if not ruling.passes:
            return self._restricted(goal, call, ruling)
        is_prose = self.session.policy.is_prose
        doubt = self.prose.doubt(goal.tool, goal.arguments) if is_prose else ""
        if doubt:
            return self._doubted(goal, doubt)
        if self.prose.asks_confirmation and not self._is_confirmed(call):
            text = f"You would like me to {wording.called(call.name, call.arguments)}."
            return Outcome(text=f"{text} {wording.GO_AHEAD}", asks=True)
        return self._use(goal.tool, goal.arguments)

    def _restricted(self, goal: Goal, call: ToolCall, ruling: Ruling) -> Step:
        """What follows from a ruling against a write: first of all, that the gate makes it as well.

        Only so does the process know what was asked for; a reasoner does not move it itself.
        """
        if self.session.dialect is Dialect.BUSINESS and not self._was_refused(call):
            return self._use(goal.tool, goal.arguments)
        about = wording.called(goal.tool.name, goal.arguments)
        if ruling.action is Action.REQUIRE_APPROVAL:
            return self._approval(goal, ruling)
        if ruling.action is Action.ESCALATE:
            return self.escalated(f"I did not {about}. {ruling.reason}", subject=ruling.subject)
        denied = ruling.approval is not None and ruling.approval.status is ApprovalStatus.DENIED
        word = "denied, so it is not approved and" if denied else "blocked by policy and"
        return Outcome(text=f"The request to {about} is {word} was not done. {ruling.reason}")

    def _doubted(self, goal: Goal, doubt: str) -> Step:
        about = wording.called(goal.tool.name, goal.arguments)
        text = (
            f"I did not {about}: I cannot judge for certain whether this rule allows it: "
            f'"{wording.shown(doubt)}"'
        )
        if self.session.dialect is Dialect.BUSINESS:
            return self.escalated(text, subject=_first_id(goal.arguments))
        if self.index.control("escalate") is None:
            return Outcome(text=text)
        return Outcome(text=f"{text} {wording.OFFER_HUMAN}", asks=True)

    def _is_confirmed(self, call: ToolCall) -> bool:
        """Whether the user said yes to this very call, after we had asked."""
        described = wording.called(call.name, call.arguments)
        return any(
            described in question and yes_or_no(text) is True
            for question, text in zip(self.thread.questions, self.thread.texts, strict=True)
        )

    def _was_refused(self, call: ToolCall) -> bool:
        """Whether the gate has refused this very call for the latest message."""
        return any(
            isinstance(made.result, RefusedCall)
            and made.is_call(call.name, call.arguments)
            and self._is_of_now(made)
            for made in self.thread.made
        )

    # -- approval --------------------------------------------------------------------------

    def _approval(self, goal: Goal, ruling: Ruling) -> Step:
        """Ask for an approval, or for what became of it; once each for one message."""
        about = wording.called(goal.tool.name, goal.arguments)
        waiting = ruling.approval is not None
        role: Control = "get_approval" if waiting else "request_approval"
        step = self._control(
            role,
            ruling.subject,
            f"{ruling.reason} Requested: {about}.",
            approval=(ruling.approval.approval_id if ruling.approval else ""),
        )
        made = self._control_made(role, ruling)
        if isinstance(step, Use) and made is None and self._is_due(ruling):
            return step
        if waiting:
            text = (
                f"The approval for {ruling.subject} {PENDING}. I have not done this yet: {about}."
            )
            return Outcome(text=f"{text} {ruling.reason}")
        why = "the request for it failed" if made else "I have no tool to ask for it"
        return self.escalated(
            f"I did not {about}. {ruling.reason} It needs approval, but {why}.",
            subject=ruling.subject,
        )

    def _is_due(self, ruling: Ruling) -> bool:
        """Whether a pending approval was told in an earlier message, so that it may have changed."""
        if ruling.approval is None:
            return True
        asked = [
            each
            for each in self.thread.made
            if self._role(each.call.name) in {"request_approval", "get_approval"}
            and _speaks_of(each.call, ruling)
        ]
        return not any(self._is_of_now(each) for each in asked)

    def _control_made(self, role: Control, ruling: Ruling) -> Made | None:
        return next(
            (
                each
                for each in self.thread.made
                if self._role(each.call.name) == role
                and self._is_of_now(each)
                and _speaks_of(each.call, ruling)
            ),
            None,
        )

    # -- escalation ------------------------------------------------------------------------

    def escalated(self, text: str, *, subject: str, summary: str = "") -> Step:
        """Hand over to a human, once for a subject, and say so; or say that it cannot be done.

        Args:
            text: Why, for the user.
            subject: The id that it is about; may be empty.
            summary: What the human is told; `text` where none is given.
        """
        reason = summary or text
        for made in self.thread.made:
            is_own = self._role(made.call.name) == "escalate" and self._has_subject(
                made.call, subject, reason
            )
            if is_own:
                if made.result.failed:
                    failed = f"{text} The handover to a human failed as well."
                    return Outcome(text=failed, unable=True)
                return Outcome(text=f"{text} {wording.HANDED_OVER}")
        step = self._control("escalate", subject, reason)
        if isinstance(step, Use):
            return step
        text = f"{text} This needs a human, whom I cannot reach from here."
        return Outcome(text=text, unable=True)

    def _has_subject(self, call: ToolCall, subject: str, reason: str) -> bool:
        """Whether a handover was about a subject.

        A tool that takes no id is told in words. On the τ² wire a handover is of the conversation.
        """
        tool = self.index.tool(call.name)
        takes = [p.name for p in tool.parameters if p.is_id] if tool else []
        if takes:
            return any(str(call.arguments.get(name)) == subject for name in takes)
        told = " ".join(str(value) for value in call.arguments.values())
        if not told or not subject or self.session.dialect is Dialect.TAU2:
            return True
        names = re.search(rf"(?<![\w-]){re.escape(subject)}(?![\w-])", told) is not None
        return names or reason[: slots.LONGEST_SLOT] in told

    def _control(self, role: Control, subject: str, reason: str, *, approval: str = "") -> Step:
        """The call of a control tool, if it can be filled."""
        tool = self.index.control(role)
        if tool is None:
            return Outcome(text=f"There is no tool to {wording.plain(role)}.")
        arguments: dict[str, Json] = {}
        for parameter in tool.parameters:
            value = self._control_slot(parameter, tool, subject, reason, approval)
            if value is not None:
                arguments[parameter.name] = value
        lacking = [each.name for each in tool.required if each.name not in arguments]
        if lacking:
            return Outcome(text=f"{wording.plain(tool.name)} lacks {', '.join(lacking)}.")
        return self._use(tool, arguments)

    def _control_slot(
        self, parameter: Parameter, tool: Tool, subject: str, reason: str, approval: str
    ) -> Json:
        if "approval" in parameter.name and parameter.is_id:
            return approval or None
        if parameter.is_id or parameter.name == "subject":
            return identifiers.typed_id(parameter, [subject]) if subject else None
        if slots.is_free_text(parameter):
            return reason[: slots.LONGEST_SLOT]
        if not parameter.required:
            return None
        said = slots.explicit(tool, Said.of(self.thread.current), self.known)
        value = said.get(parameter.name)
        if value is None:
            value = slots.from_known(parameter, tool, self.known, self.thread.current)
        if value is None and parameter.choices:
            return parameter.choices[0]
        return (
            reason[: slots.LONGEST_SLOT] if value is None and parameter.kind == "string" else value
        )

    def _role(self, name: str) -> str:
        tool = self.index.tool(name)
        return tool.role if tool else ""

    # -- reads -----------------------------------------------------------------------------

    def on_read(self, goal: Goal) -> Step:
        """The next step of a goal that looks something up."""
        last = self._last(goal.tool.name, goal.arguments)
        if last is not None and not last.result.failed:
            return Outcome(text=wording.told(goal.tool.entity, last.result.value, goal.clause))
        if last is not None and not self._may_retry(last):
            return Outcome(text=wording.failed(goal.tool.name, goal.arguments, last.result.text))
        if not goal.missing:
            return self._use(goal.tool, goal.arguments)
        read = self._read_for(goal)
        return read or Outcome(text=wording.question_for(goal.tool.name, goal.missing), asks=True)

    def _read_for(self, goal: Goal) -> Use | None:
        """A read that may fill a slot, or that the write or the policy needs; None: all are done.

        Only where a rule still cannot be judged after these, any other read that can be filled.
        """
        needs = self._needs(goal)
        open_ = [each.entity for each in goal.missing if each.is_id and each.entity]
        wanted = frozenset({*needs, *open_})
        likely = [each for each in self.index.reads if self._is_likely(each, goal, wanted)]
        widely = self.session.dialect is Dialect.BUSINESS and (needs or open_)
        others = [each for each in self.index.reads if widely and each not in likely]
        for tool in (*likely, *others):
            arguments = None if tool is goal.tool else self._read_arguments(tool, goal)
            last = None if arguments is None else self._last(tool.name, arguments)
            if arguments is not None and (
                last is None or self._may_retry(last) or not self._is_fresh(last)
            ):
                return self._use(tool, arguments)
        return None

    def _needs(self, goal: Goal) -> tuple[str, ...]:
        """The entities that keep the policy from being judged."""
        if not goal.tool.spec.is_write or self.session.dialect is not Dialect.BUSINESS:
            return ()
        call = ToolCall(id="", name=goal.tool.name, arguments=goal.arguments)
        return rule_on(self.session, call).needs

    def _is_likely(self, tool: Tool, goal: Goal, wanted: frozenset[str]) -> bool:
        """Whether a read is about what is wanted, or about the very thing that is to be changed."""
        if any(_same_entity(tool.entity, each) for each in wanted):
            return True
        if not goal.tool.spec.is_write or self.session.dialect is not Dialect.BUSINESS:
            return False
        ids = [each.name for each in tool.required if each.is_id]
        return bool(ids) and all(each.name in goal.arguments for each in tool.required)

    def _read_arguments(self, tool: Tool, goal: Goal) -> dict[str, Json] | None:
        """The required arguments of a read, from the goal, the words, or what is known."""
        spoken = "\n".join(self.thread.texts)
        said = slots.explicit(tool, Said.of(goal.clause), goal.known, strict=True)
        whole = slots.explicit(tool, Said.of(spoken), goal.known, strict=True)
        arguments: dict[str, Json] = {}
        for parameter in tool.required:
            for source in (goal.arguments, said, whole):
                if parameter.name in source:
                    arguments[parameter.name] = source[parameter.name]
                    break
            else:
                value = goal.from_known(parameter, tool, spoken)
                if value is None:
                    return None
                arguments[parameter.name] = value
        return arguments

    def _may_retry(self, made: Made) -> bool:
        """Whether a read failed fewer times than it may, and not for what it was asked."""
        tries = sum(
            each.is_call(made.call.name, made.call.arguments)
            for each in self.thread.made
            if self._is_of_now(each)
        )
        return (
            made.result.failed
            and not _NOT_THERE.search(made.result.text)
            and tries < TRIES_OF_A_READ
        )

    def _not_there(self, goal: Goal) -> str:
        """That the very thing to be changed was looked up and is not there; empty: nothing like it."""
        own = {(key, str(value)) for key, value in goal.arguments.items()}
        for made in reversed(self.thread.made):
            tool = self.index.tool(made.call.name)
            asked = {(key, str(value)) for key, value in made.call.arguments.items()}
            if (
                tool is not None
                and tool in self.index.reads
                and made.result.failed
                and asked
                and asked <= own
                and _NOT_THERE.search(made.result.text)
            ):
                text = wording.failed(tool.name, made.call.arguments, made.result.text)
                return f"{text} Nothing was changed. Please check what you gave me."
        return ""

    # -- calls -----------------------------------------------------------------------------

    def _use(self, tool: Tool, arguments: Mapping[str, Json]) -> Use:
        return Use(call=self.session.new_call(tool.name, arguments))

    def _last(self, name: str, arguments: Mapping[str, Json]) -> Made | None:
        return next(
            (each for each in reversed(self.thread.made) if each.is_call(name, arguments)), None
        )

    def _is_of_now(self, made: Made) -> bool:
        """Whether a call was made for the latest message."""
        return made.turn == len(self.thread.texts) - 1

    def _is_fresh(self, made: Made) -> bool:
        """Whether the user did no more since than answer our questions."""
        return all(self.thread.questions[made.turn + 1 :])


def _same_entity(one: str, other: str) -> bool:
    """Whether two names of an entity mean the same, plural or longer: `user` and `users`."""
    if one == other or one.rstrip("s") == other.rstrip("s"):
        return True
    return one.endswith(f"_{other}") or other.endswith(f"_{one}")


def _first_id(arguments: Mapping[str, Json]) -> str:
    """The id that a call is about, as its arguments have it."""
    named = [value for key, value in arguments.items() if key == "id" or key.endswith("_id")]
    return str(named[0]) if named else ""


def _speaks_of(call: ToolCall, ruling: Ruling) -> bool:
    values = {str(value) for value in call.arguments.values()}
    approval = ruling.approval.approval_id if ruling.approval else ""
    return ruling.subject in values or (bool(approval) and approval in values)
