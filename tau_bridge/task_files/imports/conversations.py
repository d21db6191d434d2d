"""Recorded conversations as drafts: those that went wrong, each with a control case beside it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from tau_bridge.errors import DataError
from tau_bridge.messages import AssistantMessage, Message, SystemMessage, ToolMessage, UserMessage
from tau_bridge.redaction import Redactor
from tau_bridge.task_files.checks import CallPattern
from tau_bridge.task_files.imports.drafts import (
    CheckDraft,
    FileDraft,
    KnownCall,
    TaskDraft,
    call_value,
    distinct,
    domain_name,
    tools_of,
)
from tau_bridge.task_files.imports.masking import masked

NEUTRAL: Final = (
    "The agent answers what the user asked, and claims nothing that its tools did not give."
)
_SOLVED: Final = "The agent does what the user asked for."
_MARKS: Final = r"\s*#{3}[A-Z_-]+#{3}\s*"
AT_LEAST: Final = 0.5
"""The least similarity to an answer that was right: other words may say the same."""

Verdict = Literal["right", "wrong", "unknown"]


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """The known part of what should have been.

    Args:
        calls: Calls that have to be made, name and arguments.
        unwanted: Calls that were made, and should not have been.
        says: Texts that the user has to be told.
        solution: All calls of a known solution; None where none is known.
        answer: Its answer.
        taken_from: The conversation that went right from which this was taken; None: it is known.
    """

    calls: Sequence[tuple[str, Mapping[str, Any]]] = ()
    unwanted: Sequence[tuple[str, Mapping[str, Any]]] = ()
    says: Sequence[str] = ()
    solution: Sequence[tuple[str, Mapping[str, Any]]] | None = None
    answer: str | None = None
    taken_from: str | None = None


@dataclass(frozen=True, kw_only=True)
class Conversation:
    """A recorded conversation.

    Args:
        id: Names it in the source.
        task: What conversations of the same task have in common; the id where nothing is known.
        prompt: The user's first message.
        user: Their further turns.
        answers: What the agent said to the user.
        calls: The agent's calls.
        verdict: How it went.
        why: Why it went wrong, in a sentence.
        system: The agent's instructions; None where they are not known.
        schemas: The tools that the agent had, in OpenAI's function format, by name.
        wanted: What should have been.
    """

    id: str
    task: str
    prompt: str
    user: Sequence[str] = ()
    answers: Sequence[str] = ()
    calls: Sequence[KnownCall] = ()
    verdict: Verdict = "unknown"
    why: str | None = None
    system: str | None = None
    schemas: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    wanted: Wanted = Wanted()


@dataclass(frozen=True, kw_only=True)
class Spoken:
    """The user's and the agent's part of a list of messages."""

    turns: Sequence[str]
    answers: Sequence[str]
    calls: Sequence[KnownCall]
    system: str | None


def spoken(messages: Sequence[Message]) -> Spoken:
    """Return what was said and called in messages; calls of the user's own are left out.

    A last turn of the user to which the agent did not answer any more is left out as well.
    """
    results = {m.id: m for m in messages if isinstance(m, ToolMessage)}
    turns: list[tuple[int, str]] = []
    answers: list[str] = []
    calls: list[KnownCall] = []
    system: list[str] = []
    last = 0
    for place, message in enumerate(messages):
        if isinstance(message, SystemMessage):
            system.append(message.content or "")
        elif isinstance(message, UserMessage) and message.text.strip():
            turns.append((place, _without_marks(message.text)))
        elif isinstance(message, AssistantMessage):
            last = place
            if turns and message.text.strip():
                answers.append(message.text)
            made = message.tool_calls or ()
            calls += [_known(c.name, c.arguments, results.get(c.id)) for c in made]
    return Spoken(
        turns=[text for place, text in turns if text and (place < last or place == turns[0][0])],
        answers=answers,
        calls=calls,
        system="\n\n".join(system) or None,
    )


def _known(name: str, arguments: Mapping[str, Any], result: ToolMessage | None) -> KnownCall:
    if result is None:
        return KnownCall(name=name, arguments=arguments)
    return KnownCall(
        name=name,
        arguments=arguments,
        result=json_or_text(result.content or ""),
        error=result.error,
        known=True,
    )


def json_or_text(text: str) -> Any:
    """Return the object or list that a text is in JSON; any other text as it is."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, dict | list) else text


def _without_marks(text: str) -> str:
    """Remove the signs by which a simulated user ends a conversation, such as ###STOP###."""
    return re.sub(_MARKS, " ", text).strip()


# -- drafting --------------------------------------------------------------------------------------


def draft_of(
    conversations: Sequence[Conversation], *, name: str, redactor: Redactor, notes: Sequence[str]
) -> FileDraft:
    """Return a task for each conversation that went wrong, and controls.

    Where nothing says how a conversation went, it counts as wrong: it was handed over for a reason.

    Raises:
        DataError: None went wrong.
    """
    told = [_masked(each, redactor) for each in conversations]
    right = [each for each in told if each.verdict == "right"]
    wrong = [_informed(each, right) for each in told if each.verdict != "right"]
    if not wrong:
        why = f": {notes[0]}" if notes else f"; {len(right)} went right" if right else ""
        raise DataError(f"{name}: no conversation went wrong, so there is nothing to draft{why}")
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
        everything.append("the agent's instructions are not in the source; add them as 'system:'")
    return FileDraft(
        name=domain_name(name),
        system=system or "",
        tools=tools,
        tasks=[TaskDraft(**{**vars(t), "id": new}) for t, new in zip(tasks, ids, strict=True)],
        notes=[redactor.text(note) for note in everything],
    )


def _masked(each: Conversation, redactor: Redactor) -> Conversation:
    """Mask secrets in everything that was said, called or returned."""

    def pairs(calls: Sequence[tuple[str, Mapping[str, Any]]]) -> list[tuple[str, Any]]:
        return [(name, masked(arguments, redactor)) for name, arguments in calls]

    wanted = each.wanted
    values = {
        **vars(each),
        **{
            key: masked(getattr(each, key), redactor)
            for key in ("id", "task", "prompt", "user", "answers", "schemas")
        },
        "why": None if each.why is None else redactor.text(each.why),
        "system": None if each.system is None else redactor.text(each.system),
        "calls": [
            KnownCall(
                **{
                    **vars(call),
                    "arguments": masked(call.arguments, redactor),
                    "result": masked(call.result, redactor),
                }
            )
            for call in each.calls
        ],
        "wanted": Wanted(
            calls=pairs(wanted.calls),
            unwanted=pairs(wanted.unwanted),
            says=masked(wanted.says, redactor),
            solution=None if wanted.solution is None else pairs(wanted.solution),
            answer=None if wanted.answer is None else redactor.text(wanted.answer),
        ),
    }
    return Conversation(**values)


def _informed(wrong: Conversation, right: Sequence[Conversation]) -> Conversation:
    """Take what should have been from a conversation of the same opening that went right.

    Only where nothing else is known of it, and where calls tell the two apart.
    """
    known = wrong.wanted
    if known.calls or known.unwanted or known.says or known.solution is not None:
        return wrong
    for other in right:
        calls = [(c.name, c.arguments) for c in other.calls if not c.error]
        is_same = (other.task, other.prompt) == (wrong.task, wrong.prompt)
        if is_same and calls and calls != [(c.name, c.arguments) for c in wrong.calls]:
            answer = other.answers[-1] if other.answers else None
            wanted = Wanted(calls=calls, solution=calls, answer=answer, taken_from=other.id)
            return Conversation(**{**vars(wrong), "wanted": wanted})
    return wrong


def _pairs(
    wrong: Sequence[Conversation], right: Sequence[Conversation]
) -> tuple[list[tuple[Conversation, Conversation | None]], list[str]]:
    """Return each conversation that went wrong with its control; the same one only once."""
    found: dict[str, tuple[Conversation, Conversation | None]] = {}
    again = 0
    for each in wrong:
        key = json.dumps([each.prompt, list(each.user), each.wanted.calls, each.wanted.says])
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
    tools = {call.name for call in wrong.calls} | {name for name, _ in wrong.wanted.calls}

    def nearness(other: Conversation) -> tuple[bool, int]:
        return other.task == wrong.task, len(tools & {call.name for call in other.calls})

    return max(right, key=nearness, default=None)


def _wanted_calls(
    used: Sequence[Conversation], every: Sequence[Conversation]
) -> Iterator[KnownCall]:
    """Yield the calls of solutions, with the results that some conversation has of them."""
    made = [call for each in every for call in each.calls if call.known]
    for each in used:
        for name, arguments in [*each.wanted.calls, *(each.wanted.solution or ())]:
            same_call = CallPattern(name=name, arguments=dict(arguments))
            yield next(
                (c for c in made if c.name == name and dict(c.arguments) == same_call.arguments),
                KnownCall(name=name, arguments=arguments),
            )


def _common(systems: Sequence[str | None]) -> str | None:
    return systems[0] if systems and len(set(systems)) == 1 else None


def _hidden(tools: Sequence[Any], schemas: Mapping[str, Any]) -> list[str]:
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
            value={"calls": [call_value(*call) for call in wanted.calls]},
            todo=None if source is None else f"as in {source}; keep the calls that matter",
        )
    if wanted.unwanted:
        yield CheckDraft(
            value={"not_calls": [call_value(*call) for call in wanted.unwanted]},
            todo=None if wanted.calls else "is it wrong with these arguments only, or always?",
        )
    if wanted.says:
        yield CheckDraft(value={"contains": list(wanted.says)})
    if not (wanted.calls or wanted.says):
        yield CheckDraft(
            value={"judge": _SOLVED},
            todo="say what should have happened, best as a check of calls or words",
        )


def _gold(wanted: Wanted) -> dict[str, Any] | None:
    if wanted.solution is None:
        return None
    answer = wanted.answer or " ".join(wanted.says) or "That is done."
    calls = [call_value(*call) for call in wanted.solution]
    return ({"calls": calls} if calls else {}) | {"answer": answer}


def _passing(each: Conversation, name: str, system: str | None) -> TaskDraft:
    """Return a control from a conversation that went right: it has to stay so."""
    calls = [call_value(call.name, call.arguments) for call in each.calls if not call.error]
    checks = [CheckDraft(value={"calls_in_order": calls})] if calls else []
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
        gold={"calls": calls, "answer": list(each.answers)} if each.answers else None,
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
