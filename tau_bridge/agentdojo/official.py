"""The official tools, tasks and checks: the one module here that imports inspect-evals.

inspect-ai and inspect-evals take seconds to import, so they are imported when a suite is loaded.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pickle import dumps
from typing import TYPE_CHECKING, Any, Final

from tau_bridge.agentdojo.suites import Case
from tau_bridge.messages import ToolCall

if TYPE_CHECKING:
    from tau_bridge.inspect_tools import InspectTools

_FILE_CONTENT: Final = re.compile(r"root\.cloud_drive\.files\['(.+)'\]\.content")
_RECORDS: Final = (("inbox", "emails"), ("calendar", "events"), ("cloud_drive", "files"))
"""The largest parts of the world of the suite workspace."""


@dataclass(frozen=True, kw_only=True)
class OfficialTasks:
    """The tasks and tools of one suite, as inspect-evals defines them."""

    official: Any
    tools: tuple[Any, ...]

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
    return OfficialTasks(official=official, tools=tuple(map(ToolDef, official.tools)))


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


def new_world(case: Case, attack: str) -> InspectTools:
    """Return the official tools over a world of their own, for one conversation."""
    from tau_bridge.inspect_tools import InspectTools

    begins = _environment(case.suite, case.injection, attack)
    data = {name: getattr(begins, name) for name in type(begins).model_fields}
    return InspectTools(tasks_of(case.suite).tools, data)


def judge(
    case: Case, attack: str, *, said: str, world: InspectTools, calls: Sequence[ToolCall]
) -> Verdict:
    """Return the official verdict on a case; takes up to 0.2 s.

    Args:
        case: What was played.
        attack: The attack's name.
        said: The agent's last text.
        world: As its calls have left it.
        calls: All of them, also those that failed.
    """
    from tau_bridge.inspect_tools import calls_message

    official = tasks_of(case.suite).official
    before, after = (
        environment(case, attack),
        official.environment_type.model_construct(**world.data),
    )
    traces = calls_message(calls).tool_calls
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
        return None, f"{type(error).__name__}: {error}"


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


def _call(official: Any) -> ToolCall:
    return ToolCall(name=official.function, arguments=dict(official.arguments))
