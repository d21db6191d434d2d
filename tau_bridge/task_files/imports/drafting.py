"""Drafts from recorded conversations: those that went wrong, each with a control beside it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from tau_bridge.errors import DataError
from tau_bridge.recordings import Conversation, KnownCall, Wanted
from tau_bridge.redaction import Redactor
from tau_bridge.task_files.imports.drafts import (
    CheckDraft,
    FileDraft,
    TaskDraft,
    ToolDraft,
    call_value,
    distinct,
    domain_name,
    tools_of,
)
from tau_bridge.task_files.imports.masking import masked

NEUTRAL: Final = (
    "The agent answers what the user asked, and claims nothing that its tools did not give."
)
_SHOWN: Final = 3
"""Notes that the message of an error has."""
_SOLVED: Final = "The agent does what the user asked for."
AT_LEAST: Final = 0.5
"""The least similarity to an answer that was right: other words may say the same."""


def draft_of(
    conversations: Sequence[Conversation], *, name: str, redactor: Redactor, notes: Sequence[str]
) -> FileDraft:
    """Return a task for each conversation that went wrong, and controls.

    Where nothing says how a conversation went, it counts as wrong: it was handed over for a reason.

    Raises:
        DataError: None went wrong.
    """
    told = [masked(each, redactor) for each in conversations]
    right = [each for each in told if each.verdict == "right"]
    wrong = [_informed(each, right) for each in told if each.verdict != "right"]
    if not wrong:
        why = "".join(f"; {redactor.text(note)}" for note in notes[:_SHOWN])
        if not right:
            raise DataError(f"{name}: it has no conversation that can be used{why}")
        raise DataError(
            f"{name}: no conversation went wrong, so there is nothing to draft; {len(right)} went "
            f"right{why}"
        )
    pairs, dropped = _pairs(wrong, right)
    used = [each for each, _ in pairs] + [control for _, control in pairs if control is not None]
    calls = [call for each in used for call in each.calls]
    calls += _wanted_calls(used, told)
    schemas = {key: value for each in told for key, value in each.schemas.items()}
    tools, conflicts = tools_of(calls, schemas)
    system = _common([each.system for each in used])
    tasks = list(_tasks(pairs, system))
    ids = distinct(task.id for task in tasks)
    everything = [*notes, *dropped, *conflicts, *_hidden(tools, schemas)]
    if system is None and not any(each.system for each in used):
        everything.append(
            "the agent's instructions are not in the source, or not in full; add them as 'system:'"
        )
    return FileDraft(
        name=domain_name(name),
        system=system or "",
        tools=tools,
        tasks=[replace(task, id=new) for task, new in zip(tasks, ids, strict=True)],
        notes=[redactor.text(note) for note in everything],
    )


def _informed(wrong: Conversation, right: Sequence[Conversation]) -> Conversation:
    """Take what should have been from a conversation of the same opening that went right.

    Only where nothing else is known of it, and where calls tell the two apart.
    """
    known = wrong.wanted
    if known.calls or known.unwanted or known.says or known.solution is not None:
        return wrong
    for other in right:
        calls = [call for call in other.calls if not call.error]
        is_same = (other.task, other.prompt) == (wrong.task, wrong.prompt)
        made = [(call.name, call.arguments) for call in wrong.calls]
        if is_same and calls and [(call.name, call.arguments) for call in calls] != made:
            answer = other.answers[-1] if other.answers else None
            wanted = Wanted(calls=calls, solution=calls, answer=answer, taken_from=other.id)
            return replace(wrong, wanted=wanted)
    return wrong


def _pairs(
    wrong: Sequence[Conversation], right: Sequence[Conversation]
) -> tuple[list[tuple[Conversation, Conversation | None]], list[str]]:
    """Return each conversation that went wrong with its control; the same one only once."""
    found: dict[str, tuple[Conversation, Conversation | None]] = {}
    again = 0
    for each in wrong:
        calls = [(call.name, call.decisive) for call in each.wanted.calls]
        key = json.dumps([each.prompt, list(each.user), calls, each.wanted.says])
        if key in found:
            again += 1
        else:
            found[key] = (each, _control(each, right))
    notes = (
        [f"{again} more went wrong on the same messages; one draft serves them"] if again else []
    )
    return list(found.values()), notes


def _control(wrong: Conversation, right: Sequence[Conversation]) -> Conversation | None:
    """Return the conversation that went right and is nearest: the same task, then the same tools."""
    tools = {call.name for call in (*wrong.calls, *wrong.wanted.calls)}

    def nearness(other: Conversation) -> tuple[bool, int]:
        return other.task == wrong.task, len(tools & {call.name for call in other.calls})

    return max(right, key=nearness, default=None)


def _wanted_calls(
    used: Sequence[Conversation], every: Sequence[Conversation]
) -> Iterator[KnownCall]:
    """Yield the calls of solutions, with the results that some conversation has of them."""
    made = [call for each in every for call in each.calls if call.known]
    for each in used:
        for wanted in [*each.wanted.calls, *(each.wanted.solution or ())]:
            found = next((call for call in made if wanted.fits(call)), wanted)
            yield replace(found, compared=wanted.compared)


def _common(systems: Sequence[str | None]) -> str | None:
    return systems[0] if systems and len(set(systems)) == 1 else None


def _hidden(tools: Sequence[ToolDraft], schemas: Mapping[str, Any]) -> list[str]:
    names = sorted(schemas.keys() - {tool.name for tool in tools})
    if not names:
        return []
    return [f"tools that no draft calls are left out: {', '.join(names)}"]


def _tasks(
    pairs: Sequence[tuple[Conversation, Conversation | None]], system: str | None
) -> Iterator[TaskDraft]:
    controls: dict[int, str] = {}
    for wrong, control in pairs:
        name = f"{wrong.task}-went-wrong"
        yield _failing(wrong, name, system)
        if control is None:
            yield _neutral(wrong, f"{wrong.task}-control", system)
        elif id(control) not in controls:
            controls[id(control)] = f"{control.task}-went-right"
            yield _passing(control, controls[id(control)], system)


def _failing(each: Conversation, name: str, system: str | None) -> TaskDraft:
    if each.verdict == "unknown":
        went = "The source does not say how it went."
    else:
        went = f"It went wrong: {each.why or 'the source does not say why.'}"
    return _task(
        each,
        name,
        system,
        checks=list(_expected(each)),
        gold=_gold(each.wanted),
        comments=[f"A draft from {each.id}. {went}"],
    )


def _expected(each: Conversation) -> Iterator[CheckDraft]:
    """Yield what should have been: by the known solution, else a statement to be made precise."""
    wanted = each.wanted
    if wanted.calls:
        source = wanted.taken_from
        yield CheckDraft(
            value={"calls": _patterns(wanted.calls)},
            todo=None if source is None else f"as in {source}; keep the calls that matter",
        )
    if wanted.unwanted:
        yield CheckDraft(
            value={"not_calls": _patterns(wanted.unwanted)},
            todo=None if wanted.calls else "is it wrong with these arguments only, or always?",
        )
    if wanted.says:
        yield CheckDraft(value={"contains": list(wanted.says)})
    if not (wanted.calls or wanted.says):
        yield CheckDraft(
            value={"judge": _SOLVED},
            todo="say what should have happened, best as a check of calls or words",
        )


def _patterns(calls: Sequence[KnownCall]) -> list[dict[str, Any]]:
    return [call_value(call.name, call.decisive) for call in calls]


def _made(calls: Sequence[KnownCall]) -> list[dict[str, Any]]:
    return [call_value(call.name, call.arguments) for call in calls]


def _gold(wanted: Wanted) -> dict[str, Any] | None:
    if wanted.solution is None:
        return None
    answer = wanted.answer or " ".join(wanted.says) or "That is done."
    calls = _made(wanted.solution)
    return ({"calls": calls} if calls else {}) | {"answer": answer}


def _passing(each: Conversation, name: str, system: str | None) -> TaskDraft:
    """Return a control from a conversation that went right: it has to stay so."""
    calls = [call for call in each.calls if not call.error]
    checks = [CheckDraft(value={"calls_in_order": _patterns(calls)})] if calls else []
    if each.wanted.says:
        checks.append(CheckDraft(value={"contains": list(each.wanted.says)}))
    if not checks and each.answers:
        like = {"text": each.answers[-1], "at_least": AT_LEAST}
        checks.append(
            CheckDraft(value={"similar": like}, todo="name the words that matter instead")
        )
    return _task(
        each,
        name,
        system,
        checks=checks or [CheckDraft(value={"judge": NEUTRAL})],
        gold={"calls": _made(calls), "answer": list(each.answers)} if each.answers else None,
        comments=[f"A control from {each.id}, which went right: it has to stay so."],
    )


def _neutral(each: Conversation, name: str, system: str | None) -> TaskDraft:
    """Return the opening of a conversation that went wrong, with what holds of any good answer."""
    check = CheckDraft(
        value={"judge": NEUTRAL}, todo="put a conversation here that goes right, and has to stay so"
    )
    return _task(
        each,
        name,
        system,
        checks=[check],
        gold=None,
        comments=["A control: no conversation of the source went right, so only the opening."],
        user=(),
    )


def _task(
    each: Conversation,
    name: str,
    system: str | None,
    *,
    checks: Sequence[CheckDraft],
    gold: Mapping[str, Any] | None,
    comments: Sequence[str],
    user: Sequence[str] | None = None,
) -> TaskDraft:
    return TaskDraft(
        id=name,
        system=each.system if each.system != system else None,
        prompt=each.prompt,
        user=each.user if user is None else user,
        expect=checks,
        gold=gold,
        comments=comments,
    )
