"""Compare Greenroom's verdicts on AgentDojo with those of Inspect's own evaluation.

    python scripts/agentdojo_parity.py --traces 500 --seed 1

Each trace is the official solution of a random case, with or without that of its injection, changed
at random: calls left out, repeated, moved, with other or wrongly typed arguments, other last words.
Greenroom plays it in this process, Inspect with a scripted model. Where Inspect ends in an error, as
with an e-mail address that a tool refuses, there is nothing to compare, and another trace is drawn.
"""

from __future__ import annotations

import argparse
import asyncio
import copy
import random
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from inspect_ai import eval as inspect_eval
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_evals.agentdojo.agentdojo import agentdojo
from inspect_evals.agentdojo.task_suites.workspace.environment import WorkspaceDeepDiff

from tau_bridge.agentdojo import official
from tau_bridge.agentdojo.suites import SUITES, Case, cases
from tau_bridge.clock import Runtime
from tau_bridge.messages import ToolCall
from tau_bridge.recorder import TraceRecorder
from tau_bridge.scripted_agent import ScriptedAgent
from tau_bridge.tool_dialogue import converse

ERROR = "ended in an error at Inspect"
ATTACK = "important_instructions"
WORDS = ("", "42", "Hello", "nobody@example.com", "2024-05-15", "general", "ünïcödé")
ODD: tuple[Any, ...] = (None, 7, -1.5, True, [], {"a": 1}, "x")


@dataclass(frozen=True, kw_only=True)
class TracePlayed:
    """What an agent does in one case."""

    case: Case
    calls: tuple[ToolCall, ...]
    said: str


def draw(dice: random.Random) -> TracePlayed:
    """Draw a case and a changed solution of it."""
    suite = dice.choice(tuple(SUITES))
    case = dice.choice(tuple(cases(suite, dice.choice(("benign", "attacked")))))
    found = official.solution(case, ATTACK)
    calls = list(found.actions)
    if dice.random() < 0.6:
        place = dice.randint(0, len(calls))
        calls[place:place] = found.injected
    said = " ".join(filter(None, (found.answer, found.injected_answer)))
    for _ in range(dice.choice((0, 1, 1, 2, 3))):
        calls, said = _changed(calls, said, dice)
    return TracePlayed(case=case, calls=tuple(calls), said=said)


def _changed(calls: list[ToolCall], said: str, dice: random.Random) -> tuple[list[ToolCall], str]:
    calls = list(calls)
    how = dice.choice(
        ("drop", "repeat", "swap", "argument", "argument", "lose", "said", "stranger")
    )
    if how == "said" or not calls:
        return calls, dice.choice(
            (said[: len(said) // 2], said.upper(), "I do not know.", "3 three")
        )
    at = dice.randrange(len(calls))
    if how == "drop":
        del calls[at]
    elif how == "repeat":
        calls.insert(at, calls[at])
    elif how == "swap":
        dice.shuffle(calls)
    elif how == "stranger":
        calls.insert(
            at, ToolCall(name=dice.choice(("get_balance", "list_files", "get_unread_emails")))
        )
    elif calls[at].arguments:
        arguments = copy.deepcopy(calls[at].arguments)
        name = dice.choice(tuple(arguments))
        if how == "lose":
            del arguments[name]
        else:
            arguments[name] = _other(arguments[name], dice)
        calls[at] = calls[at].model_copy(update={"arguments": arguments})
    return calls, said


def _other(value: Any, dice: random.Random) -> Any:
    if dice.random() < 0.3:
        return dice.choice(ODD)
    if isinstance(value, str):
        return dice.choice((*WORDS, value + " ", value.swapcase(), value[1:]))
    if isinstance(value, int | float) and not isinstance(value, bool):
        return dice.choice((value + 1, value * 10, -value))
    if isinstance(value, list):
        return dice.choice(([], value[:-1], [*value, *value]))
    return dice.choice(WORDS)


async def ours(trace: TracePlayed) -> tuple[bool, bool | None]:
    """Return whether the user task was done, and whether the attack succeeded."""
    world = official.new_world(trace.case, ATTACK)
    dialogue = await converse(
        agent=ScriptedAgent(address="scripted", calls=trace.calls, answers=[trace.said]),
        world=world,
        opening=official.tasks_of(trace.case.suite).prompt(trace.case),
        max_steps=1_000,
        recorder=TraceRecorder("parity", runtime=Runtime.system()),
    )
    found = official.judge(
        trace.case, ATTACK, said=dialogue.last_words, world=world, calls=dialogue.calls
    )
    return found.solved, found.hijacked


def theirs(traces: Sequence[TracePlayed], log_dir: str) -> list[tuple[bool, bool | None] | None]:
    """Return the same as Inspect decides it; None where its evaluation ended in an error."""
    found: list[tuple[bool, bool | None] | None] = []
    for trace in traces:
        outputs = [
            ModelOutput.for_tool_call("mockllm", call.name, copy.deepcopy(call.arguments))
            for call in trace.calls
        ]
        outputs.append(ModelOutput.from_content("mockllm", trace.said))
        for output in outputs:  # otherwise tokens are counted, with a file from the network
            output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        injection = trace.case.injection
        task = agentdojo(
            attack=ATTACK,
            workspace=trace.case.suite,
            user_task_ids=[trace.case.user],
            injection_task_ids=None if injection is None else [injection],
            with_injections=injection is not None,
        )
        (log,) = inspect_eval(
            task,
            model=get_model("mockllm/model", custom_outputs=outputs, memoize=False),
            display="none",
            log_dir=log_dir,
            log_samples=False,
            log_buffer=10_000,
        )
        if log.status != "success" or not log.reductions or not log.reductions[0].samples:
            found.append(None)
            continue
        value = log.reductions[0].samples[0].value
        solved = _is_correct(value["utility"])
        found.append((solved, None if injection is None else _is_correct(value["security"])))
    return found


def _is_correct(value: Any) -> bool:
    return value in ("C", 1, 1.0)


def diff_in_full(before: Any, after: Any, **settings: Any) -> Any:
    """Compare two worlds as deepdiff 8.4 does: in full, and with the computed sizes of files."""
    from deepdiff import DeepDiff

    found = DeepDiff(before, after, **settings)
    for name, file in before.cloud_drive.files.items():
        now = after.cloud_drive.files.get(name)
        if now is not None and now.size != file.size:
            path = f"root.cloud_drive.files['{name}'].size"
            found.setdefault("values_changed", {})[path] = {
                "old_value": file.size,
                "new_value": now.size,
            }
    return found


def compare(number: int, *, seed: int, log_dir: str) -> tuple[Counter[str], list[str]]:
    """Compare verdicts on `number` traces; return counts, and the traces on which they differ."""
    dice, counts, differing = random.Random(seed), Counter[str](), list[str]()  # noqa: S311
    while counts["compared"] < number:
        if counts[ERROR] > number:
            raise RuntimeError(f"Inspect ended {counts[ERROR]} evaluations in an error")
        traces = [draw(dice) for _ in range(number - counts["compared"])]
        mine = [asyncio.run(ours(trace)) for trace in traces]
        mended, WorkspaceDeepDiff._deepdiff_fn = WorkspaceDeepDiff._deepdiff_fn, diff_in_full  # noqa: SLF001
        try:
            others = theirs(traces, log_dir)
        finally:
            WorkspaceDeepDiff._deepdiff_fn = mended  # noqa: SLF001
        for trace, one, other in zip(traces, mine, others, strict=True):
            if other is None:
                counts[ERROR] += 1
                continue
            counts["compared"] += 1
            counts["solved"] += other[0]
            counts["attacked"] += other[1] is not None
            counts["hijacked"] += bool(other[1])
            if one != other:
                differing.append(f"{trace}: ours {one}, Inspect {other}")
    return counts, differing


def main() -> int:
    """Run the comparison."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--traces", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--log-dir", default="logs")
    parsed = parser.parse_args()
    began_s = time.monotonic()
    counts, differing = compare(parsed.traces, seed=parsed.seed, log_dir=parsed.log_dir)
    print(", ".join(f"{name} {count}" for name, count in sorted(counts.items())))
    print(f"{len(differing)} differ, {time.monotonic() - began_s:.0f} s")
    print("\n".join(differing[:20]))
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
