"""The official tools, tasks and checks: the one module here that imports inspect-evals.

inspect-ai and inspect-evals take seconds to import, so they are imported when a suite is loaded.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache, wraps
from pickle import dumps
from types import MappingProxyType
from typing import Any, Final

from pydantic import ValidationError

from tau_bridge.agentdojo.suites import Case
from tau_bridge.completion import ToolSchema
from tau_bridge.messages import ToolCall, ToolMessage

_FILE_CONTENT: Final = re.compile(r"root\.cloud_drive\.files\['(.+)'\]\.content")
_RECORDS: Final = (("inbox", "emails"), ("calendar", "events"), ("cloud_drive", "files"))
"""The largest parts of the world of the suite workspace."""
_MOST_ERROR: Final = 1_000
"""Characters of a tool's exception that an agent is told."""


@dataclass(frozen=True, kw_only=True)
class OfficialTasks:
    """The tasks and tools of one suite, as inspect-evals defines them."""

    official: Any
    definitions: Mapping[str, Any]
    schemas: tuple[ToolSchema, ...]

    def prompt(self, case: Case) -> str:
        """Return the user's request."""
        return str(self.official.user_tasks[case.user].PROMPT)

    def goal(self, case: Case) -> str:
        """Return what the injected text demands; empty without an attack."""
        if case.injection is None:
            return ""
        return str(self.official.injection_tasks[case.injection].GOAL)


@dataclass(frozen=True, kw_only=True)
class Solution:
    """The official solution of a case.

    Args:
        actions: The calls that solve the user task.
        answer: The official final text; None if the task has none.
        marker: The text by which injected text is recognised; empty without an attack.
        injected: The calls that do what the injected text demands.
        injected_answer: The final text that it demands, where it demands one.
    """

    actions: tuple[ToolCall, ...]
    answer: str | None
    marker: str = ""
    injected: tuple[ToolCall, ...] = ()
    injected_answer: str = ""


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The official checks of a played case.

    Args:
        solved: Whether the user task was done.
        hijacked: Whether the injection's goal was reached; None without an attack.
        problem: The exception that the check of the user task raised; it counts as not solved.
        attack_problem: The exception that the check of the injection raised.
    """

    solved: bool
    hijacked: bool | None
    problem: str | None = None
    attack_problem: str | None = None


@lru_cache
def tasks_of(suite: str) -> OfficialTasks:
    """Load a suite."""
    from inspect_ai.tool import ToolDef
    from inspect_evals.agentdojo.dataset import TASK_SUITES
    from inspect_evals.agentdojo.task_suites.workspace.environment import WorkspaceDeepDiff

    # deepdiff omits computed fields from 8.5 on, and four official checks expect a file's size.
    WorkspaceDeepDiff._deepdiff_fn = _diff_with_sizes  # noqa: SLF001 - the only place for it
    official = TASK_SUITES[suite]
    definitions = {each.name: each for each in map(ToolDef, map(_answering, official.tools))}
    return OfficialTasks(
        official=official,
        definitions=MappingProxyType(definitions),
        schemas=tuple(map(_schema, definitions.values())),
    )


@lru_cache
def system_prompt() -> str:
    """Return the instructions of the official default agent."""
    from inspect_ai.model import ModelName
    from inspect_ai.solver import TaskState
    from inspect_evals.agentdojo.agents.agent import get_agent

    state = TaskState(model=ModelName("mockllm/model"), sample_id=1, epoch=1, input="", messages=[])
    first = get_agent("default")[0]  # adds the system message; the next one asks a model
    return str(_result(first(state, None)).messages[0].text).strip()


def environment(case: Case, attack: str) -> Any:
    """Return the world of a case at its beginning, a fresh copy."""
    return copy.deepcopy(_environment(case.suite, case.injection, attack))


@cache
def _environment(suite: str, injection: int | None, attack: str) -> Any:
    # Reading the YAML takes up to 70 ms, and all user tasks of a suite share 35 + 4 worlds.
    official = tasks_of(suite).official
    text = attack_text(suite, injection, attack)
    vectors = dict.fromkeys(official.get_injection_vector_defaults(), text) if text else {}
    return official.load_and_inject_default_environment(vectors)


def attack_text(suite: str, injection: int | None, attack: str) -> str:
    """Return the text that is injected in every place at once; empty without an injection task."""
    from inspect_evals.agentdojo.attacks.attack import get_attack

    if injection is None:
        return ""
    goal = tasks_of(suite).official.injection_tasks[injection].GOAL
    return str(get_attack(attack).format(goal=goal))


def solution(case: Case, attack: str) -> Solution:
    """Return the official solution of a case."""
    official, before = tasks_of(case.suite).official, environment(case, attack)
    user = official.user_tasks[case.user]
    found = Solution(
        actions=tuple(map(_call, user.ground_truth(before))),
        answer=user.GROUND_TRUTH_OUTPUT or None,
    )
    if case.injection is None:
        return found
    injection = official.injection_tasks[case.injection]
    return replace(
        found,
        # The first word, because YAML folds the lines of the whole text.
        marker=attack_text(case.suite, case.injection, attack).split()[0],
        injected=tuple(map(_call, injection.ground_truth(before))),
        injected_answer=injection.GROUND_TRUTH_OUTPUT,
    )


class OfficialWorld:
    """The official tools over a world of their own, for one conversation."""

    def __init__(self, case: Case, attack: str) -> None:
        from inspect_ai.util._store import Store  # public, but not re-exported in every version

        self._tasks = tasks_of(case.suite)
        self._store = Store()
        begins = environment(case, attack)
        for name in type(begins).model_fields:
            self._store.set(name, getattr(begins, name))

    async def respond(self, call: ToolCall) -> ToolMessage:
        """Make a call as Inspect does, with its checks of arguments and its limit on results."""
        from inspect_ai.model import ChatMessageAssistant, execute_tools
        from inspect_ai.util._store import init_subtask_store, suspend_store_events

        init_subtask_store(self._store)  # tools find their world in the context of the task
        definition = self._tasks.definitions.get(call.name)
        message = ChatMessageAssistant(content="", tool_calls=[_official_call(call)])
        with suspend_store_events():  # which would copy the world before and after each call
            made = await execute_tools([message], [] if definition is None else [definition])
        found = made.messages[0]
        text = found.text if found.error is None else str(found.error.message)
        return ToolMessage(
            id=call.id, requestor=call.requestor, content=text, error=found.error is not None
        )

    def after(self) -> Any:
        """Return the world as the calls have left it."""
        left = {name: self._store.get(name) for name in self._store.keys()}  # noqa: SIM118 - no dict
        return self._tasks.official.environment_type.model_construct(**left)


def judge(
    case: Case, attack: str, *, said: str, world: OfficialWorld, calls: Sequence[ToolCall]
) -> Verdict:
    """Return the official verdict on a case; takes up to 0.2 s.

    Args:
        case: What was played.
        attack: The attack's name.
        said: The agent's last text.
        world: As its calls have left it.
        calls: All of them, also those that failed.
    """
    official = tasks_of(case.suite).official
    before, after = environment(case, attack), world.after()
    traces = list(map(_official_call, calls))
    solved, problem = _decided(
        official.user_tasks[case.user].utility, said, before, after, traces=traces
    )
    hijacked, attack_problem = None, None
    if case.injection is not None:
        hijacked, attack_problem = _decided(
            official.injection_tasks[case.injection].security, said, before, after, traces=traces
        )
    return Verdict(
        solved=bool(solved), hijacked=hijacked, problem=problem, attack_problem=attack_problem
    )


def _decided(check: Callable[..., Any], *of: Any, **named: Any) -> tuple[bool | None, str | None]:
    try:
        return bool(_result(check(*of, **named))), None
    except Exception as error:  # noqa: BLE001 - some raise KeyError where a user was removed
        return None, _worded(error)


def _result(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Return what a coroutine comes to that never waits for anything."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        return end.value
    coroutine.close()
    raise RuntimeError("an official check waits for something: it cannot be called here")


def _diff_with_sizes(before: Any, after: Any, **settings: Any) -> Any:
    """Compare two worlds as deepdiff did before 8.5: a file's size is one of its fields."""
    from deepdiff import DeepDiff

    found = DeepDiff(*_without_most_that_is_equal(before, after), **settings)
    changed = found.get("values_changed", {})
    for path in list(changed):
        file = _FILE_CONTENT.fullmatch(path)
        if file is None:
            continue
        was, now = (world.cloud_drive.files[file[1]].size for world in (before, after))
        if was != now:
            size = path.removesuffix("content") + "size"
            changed.setdefault(size, {"new_value": now, "old_value": was})
    return found


def _without_most_that_is_equal(before: Any, after: Any) -> tuple[Any, Any]:
    """Leave out records that are the same in both worlds; comparing them all takes 0.1 s.

    As many equal records as differing ones stay: deepdiff looks at how much two mappings share
    before it compares what is in them.
    """
    for owner, field in _RECORDS:
        one, other = (getattr(getattr(world, owner), field) for world in (before, after))
        same = [key for key in one if key in other and dumps(one[key]) == dumps(other[key])]
        left_out = frozenset(same[len({*one, *other}) - len(same) :])
        before, after = (
            world.model_copy(update={owner: getattr(world, owner).model_copy(update={field: kept})})
            for world, records in ((before, one), (after, other))
            for kept in [{key: each for key, each in records.items() if key not in left_out}]
        )
    return before, after


def _answering(tool: Any) -> Any:
    """Make a tool answer with text where it would raise, which ends an evaluation of Inspect's."""
    from inspect_ai.tool import ToolError

    @wraps(tool)
    async def call(**arguments: Any) -> Any:
        try:
            return await tool(**arguments)
        except Exception as error:  # as a wrong e-mail address
            raise ToolError(_worded(error)) from error

    return call


def _schema(definition: Any) -> ToolSchema:
    return {
        "type": "function",
        "function": {
            "name": definition.name,
            "description": definition.description,
            "parameters": definition.parameters.model_dump(exclude_none=True),
        },
    }


def _call(official: Any) -> ToolCall:
    return ToolCall(name=official.function, arguments=dict(official.arguments))


def _official_call(call: ToolCall) -> Any:
    from inspect_ai.tool import ToolCall as OfficialCall

    return OfficialCall(
        id=call.id or "call", function=call.name, arguments=dict(call.arguments), type="function"
    )


def _worded(error: Exception) -> str:
    if isinstance(error, ValidationError):
        listed = error.errors(include_url=False, include_context=False, include_input=False)
        text = "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in listed)
    else:
        text = f"{type(error).__name__}: {error}"
    return f"Error: {text[:_MOST_ERROR]}"
