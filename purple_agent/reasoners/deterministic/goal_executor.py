"""Goal executor: pursues a goal one step at a time.

A step is a call to make, or the outcome of the goal in words. Earlier steps are read from the
request, so that there is no state between two steps.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from purple_agent.case import Dialect, Json, Session, ToolCall, Use
from purple_agent.policy.rules import Action
from purple_agent.reasoners.confirmation import asks_confirmation
from purple_agent.reasoners.deterministic import slots, wording
from purple_agent.reasoners.deterministic.dialogue_acts import yes_or_no
from purple_agent.reasoners.deterministic.goals import Goal
from purple_agent.reasoners.deterministic.prose_policy import doubt
from purple_agent.reasoners.deterministic.request import PENDING, MadeCall, Request
from purple_agent.reasoners.deterministic.tools import Parameter, Tool, ToolIndex
from purple_agent.reasoners.deterministic.utterance import utterance_of
from purple_agent.toolbox.control import Control
from purple_agent.toolbox.failures import Cause, cause_of
from purple_agent.writes.gate import RefusedCall, Ruling, named_id, rule_on

MAX_TRIES_OF_A_READ: Final = 2
_NOT_THERE: Final = re.compile(
    r"\b(?:not found|no such|does not exist|doesn't exist|unknown|not exist|no \w+ with|invalid)\b",
    re.I,
)


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The state of a goal with no call left to make.

    Args:
        text: The words for the user.
        asks: True if it is a question whose answer the goal needs.
        unable: True if nothing of the goal could be done.
    """

    text: str
    asks: bool = False
    unable: bool = False


Step = Use | Outcome


@dataclass(frozen=True, kw_only=True)
class GoalExecutor:
    """Pursues the goals of one request."""

    session: Session
    request: Request
    index: ToolIndex

    @property
    def _is_business(self) -> bool:
        return self.session.dialect is Dialect.BUSINESS

    def advance(self, goal: Goal) -> Step:
        """Return the next step of a goal."""
        return self._advance_write(goal) if goal.tool.spec.is_write else self._advance_read(goal)

    def _use(self, tool: Tool, arguments: Mapping[str, Json]) -> Use:
        return Use(call=self.session.new_call(tool.name, arguments))

    # -- a change --------------------------------------------------------------------------

    def _advance_write(self, goal: Goal) -> Step:
        made = self._write_made(goal)
        if made is not None:
            return self._after_write(goal, made)
        read = self._read_for(goal)
        if read is not None:
            return read
        if goal.missing:
            return Outcome(text=wording.question_for(goal.tool.name, goal.missing), asks=True)
        return self._not_there(goal) or self._judged(goal)

    def _write_made(self, goal: Goal) -> MadeCall | None:
        """Return the write made for a goal: one that succeeded, or failed for this message.

        A tool that is no longer listed may have been renamed, so its calls count as well.
        """
        for made in reversed(self.request.made):
            spec = self.session.spec(made.call.name)
            fits = spec is None or made.call.name == goal.tool.name
            is_final = not made.result.failed or (spec is not None and self.request.is_of_now(made))
            refused = isinstance(made.result, RefusedCall)
            if fits and is_final and not refused and goal.is_done_by(made.call.arguments):
                return made
        return None

    def _after_write(self, goal: Goal, made: MadeCall) -> Step:
        call, result = made.call, made.result
        if not result.failed:
            text = wording.done(call.name, call.arguments, result.value)
            return Outcome(text=f"{text}{self._remarks(call)}")
        # On the τ² wire a failure is always what the tool itself said.
        if self._is_business and cause_of(result) is Cause.WAY:
            text = wording.unsure(goal.tool.name, goal.arguments, result.text)
        else:
            text = wording.failed(goal.tool.name, goal.arguments, result.text)
            if _NOT_THERE.search(result.text):
                return Outcome(text=f"{text} {wording.UNCHANGED}")
        return self.escalate(text, subject=named_id(call))

    def _remarks(self, call: ToolCall) -> str:
        """Return the policy's remarks on a write that was made."""
        ruling = rule_on(self.session, call)
        warnings = ", ".join(ruling.warnings)
        remarks = f" {ruling.reason}" if ruling.approval is not None and ruling.passes else ""
        return f"{remarks} Please note the policy's warning: {warnings}." if warnings else remarks

    def _not_there(self, goal: Goal) -> Outcome | None:
        """Say that the very thing to be changed was looked up and not found; None: nothing was."""
        own = {(name, str(value)) for name, value in goal.arguments.items()}
        for made in reversed(self.request.made):
            asked = {(name, str(value)) for name, value in made.call.arguments.items()}
            missing = made.result.failed and _NOT_THERE.search(made.result.text)
            is_read = any(tool.name == made.call.name for tool in self.index.reads)
            if missing and asked and asked <= own and is_read:
                text = wording.failed(made.call.name, made.call.arguments, made.result.text)
                return Outcome(text=f"{text} {wording.UNCHANGED}")
        return None

    def _judged(self, goal: Goal) -> Step:
        """Make a write if the policy lets it pass; otherwise do what the policy asks for."""
        call = ToolCall(id="", name=goal.tool.name, arguments=goal.arguments)
        about = wording.called(call.name, call.arguments)
        ruling = rule_on(self.session, call)
        # The gate has to refuse the call as well: only so does the process know what was asked for.
        if not ruling.passes and self._is_business and not self._was_refused(call):
            return self._use(goal.tool, goal.arguments)
        if not ruling.passes:
            return self._restricted(about, ruling)
        prose = self.session.policy_text if self.session.policy.is_prose else ""
        doubted = wording.shown(doubt(prose, goal.tool, goal.arguments))
        if doubted:
            why = f'I cannot judge for certain whether this rule allows it: "{doubted}"'
            return self.escalate(f"I did not {about}: {why}", subject=named_id(call))
        if asks_confirmation(prose) and not self._is_confirmed(about):
            return Outcome(text=f"You would like me to {about}. {wording.GO_AHEAD}", asks=True)
        return self._use(goal.tool, goal.arguments)

    def _was_refused(self, call: ToolCall) -> bool:
        """Tell whether the gate has refused the same call for the latest message."""
        last = self._last(call.name, call.arguments)
        if last is None or not isinstance(last.result, RefusedCall):
            return False
        return self.request.is_of_now(last)

    def _restricted(self, about: str, ruling: Ruling) -> Step:
        if ruling.action is Action.REQUIRE_APPROVAL:
            return self._approval(about, ruling)
        text = f"I did not {about}. {ruling.reason}"
        if ruling.action is Action.ESCALATE:
            return self.escalate(text, subject=ruling.subject)
        return Outcome(text=text)

    def _is_confirmed(self, about: str) -> bool:
        """Tell whether the user confirmed this call after we had asked."""
        answers = zip(self.request.questions, self.request.texts, strict=True)
        return any(about in question and yes_or_no(text) is True for question, text in answers)

    # -- control tools ---------------------------------------------------------------------

    def _approval(self, about: str, ruling: Ruling) -> Step:
        """Request an approval, or look it up, once per message."""
        subject, approval = ruling.subject, ruling.approval
        about_it = {subject, approval.approval_id if approval else subject}
        asked = any(
            not about_it.isdisjoint(map(str, made.call.arguments.values()))
            for made in (*self._made("request_approval"), *self._made("get_approval"))
            if self.request.is_of_now(made)
        )
        role: Control = "get_approval" if approval else "request_approval"
        reason = f"{ruling.reason} Requested: {about}."
        use = self._control(role, subject, reason, approval.approval_id if approval else "")
        if use is not None and not asked:
            return use
        if approval is not None:
            text = f"The approval for {subject} {PENDING}. I have not done this yet: {about}."
            return Outcome(text=f"{text} {ruling.reason}")
        why = "the request for it failed" if asked else "I have no tool to ask for it"
        text = f"I did not {about}. {ruling.reason} It needs approval, but {why}."
        return self.escalate(text, subject=subject)

    def escalate(self, text: str, *, subject: str, summary: str = "") -> Step:
        """Hand over to a human, once per subject, and say so; or say that it is impossible.

        Args:
            text: The reason for the user.
            subject: The id of the subject; may be empty.
            summary: The reason for the human; by default `text`.
        """
        reason = summary or text
        made = next((m for m in self._made("escalate") if self._is_about(m.call, subject)), None)
        if made is not None and made.result.failed:
            failed = f"{text} The handover to a human failed as well."
            return Outcome(text=failed, unable=True)
        if made is not None:
            return Outcome(text=f"{text} {wording.HANDED_OVER}")
        unreached = f"{text} This needs a human, whom I cannot reach from here."
        return self._control("escalate", subject, reason) or Outcome(text=unreached, unable=True)

    def _made(self, role: Control) -> Iterator[MadeCall]:
        """Yield the calls of a control tool in this request."""
        tool = self.index.controls.get(role)
        return (made for made in self.request.made if tool and made.call.name == tool.name)

    def _is_about(self, call: ToolCall, subject: str) -> bool:
        """Tell whether a handover was about a subject; on the τ² wire it is of the conversation."""
        words = " ".join(map(str, call.arguments.values()))
        named = re.search(rf"(?<![\w-]){re.escape(subject)}(?![\w-])", words)
        return not self._is_business or named is not None

    def _control(self, role: Control, subject: str, reason: str, approval: str = "") -> Use | None:
        """Return the call of a control tool; None without one, or if it cannot be filled."""
        tool = self.index.controls.get(role)
        if tool is None:
            return None
        arguments: dict[str, Json] = {}
        for parameter in tool.parameters:
            value = _control_slot(parameter, subject, reason, approval)
            if value:
                arguments[parameter.name] = value
        is_filled = all(each.name in arguments for each in tool.required)
        return self._use(tool, arguments) if is_filled else None

    # -- reads -----------------------------------------------------------------------------

    def _advance_read(self, goal: Goal) -> Step:
        last = self._last(goal.tool.name, goal.arguments)
        if last is not None and not last.result.failed:
            return Outcome(text=wording.found(goal.tool.entity, last.result.value))
        if last is not None and not self._may_retry(last):
            return Outcome(text=wording.failed(goal.tool.name, goal.arguments, last.result.text))
        if not goal.missing:
            return self._use(goal.tool, goal.arguments)
        question = Outcome(text=wording.question_for(goal.tool.name, goal.missing), asks=True)
        return self._read_for(goal) or question

    def _read_for(self, goal: Goal) -> Use | None:
        """Return a read that may fill a slot, or that the write or the policy needs; None: no more.

        Only where a rule still cannot be judged after these, any other read that can be filled.
        """
        missing = {each.entity for each in goal.missing if each.is_id and each.entity}
        is_judged = goal.tool.spec.is_write and self._is_business
        if is_judged:
            call = ToolCall(id="", name=goal.tool.name, arguments=goal.arguments)
            missing.update(rule_on(self.session, call).needs)
        # Also read the records that the write names before changing them.
        likely = [
            tool
            for tool in self.index.reads
            if tool.entity in missing
            or (
                is_judged
                and tool.required
                and all(each.name in goal.arguments for each in tool.required)
            )
        ]
        others = self.index.reads if missing and self._is_business else ()
        for tool in (*likely, *others):
            arguments = None if tool is goal.tool else self._read_arguments(tool, goal)
            if arguments is not None and self._is_due(self._last(tool.name, arguments)):
                return self._use(tool, arguments)
        return None

    def _read_arguments(self, tool: Tool, goal: Goal) -> dict[str, Json] | None:
        """Return the required arguments of a read, from the goal, the words, or what is known."""
        said = slots.slots_in(tool, utterance_of(self.request.whole), strict=True)
        given = {**said, **goal.arguments}
        arguments = {
            each.name: given.get(each.name, slots.known_value(each, goal.known))
            for each in tool.required
        }
        return None if None in arguments.values() else arguments

    def _last(self, name: str, arguments: Mapping[str, Json]) -> MadeCall | None:
        made = reversed(self.request.made)
        return next((each for each in made if each.is_call(name, arguments)), None)

    def _is_due(self, last: MadeCall | None) -> bool:
        """Tell whether to read: not yet, again after a failure, or after a new wish of the user."""
        is_stale = last is not None and not all(self.request.questions[last.turn + 1 :])
        return last is None or is_stale or self._may_retry(last)

    def _may_retry(self, last: MadeCall) -> bool:
        """Tell whether a read failed fewer times than it may, and not for what it was asked."""
        if not last.result.failed or _NOT_THERE.search(last.result.text):
            return False
        same = [m for m in self.request.made if m.is_call(last.call.name, last.call.arguments)]
        return sum(map(self.request.is_of_now, same)) < MAX_TRIES_OF_A_READ


def _control_slot(parameter: Parameter, subject: str, reason: str, approval: str) -> Json:
    """Return the value for a parameter of a control tool; empty for none."""
    if parameter.is_id or parameter.name == "subject":
        is_approval = "approval" in parameter.words
        return approval if is_approval else subject and slots.typed_id(parameter, subject)
    return reason[: slots.LONGEST_SLOT] if parameter.kind == "string" else None
