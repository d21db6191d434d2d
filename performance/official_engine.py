"""The official engine as a backend beside the same engine alone: CPU seconds of a conversation.

Both play the same conversations, in which the agent makes the gold actions: the engine in one
process that is told what is said, and our worker over its pipe, which asks for it. Counted are both
sides of the pipe, and not the start. Each conversation counts with the least of its rounds. Exit
code 1 where the worker takes over 1.2 times as long, or a reward differs.

It needs TAU2_PYTHON, and takes the data of TAU2_DATA_DIR or of the checkout.

    TAU2_PYTHON=.../bin/python .venv/bin/python performance/official_engine.py [--tasks 5]
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import time
from pathlib import Path

from evals.outcome import Scored
from tau_bridge.benchmark import TaskRef
from tau_bridge.clock import Runtime
from tau_bridge.messages import AssistantMessage, UserMessage
from tau_bridge.recorder import TraceRecorder
from tau_bridge.tau2.engine.engine import OfficialEngine
from tau_bridge.tau2.engine.playing import Cast
from tau_bridge.tau2.references import reference_agent
from tau_bridge.tau2.scripted_user import ScriptedUser

MOST = 1.2
DOMAINS = ("airline", "retail", "telecom", "banking_knowledge")
RETRIEVAL = "bm25_grep"
ALONE = Path(__file__).with_name("_official_conversations.py")


async def play(engine, ref):
    """Play and score the gold actions of a task; return seconds, messages and the engine's checks."""
    task = engine.data.task(ref.domain, ref.id)
    side = reference_agent(task, gold=True, solo=False)
    started = time.process_time() + engine.cpu_s()
    played, channel = await engine.play(
        ref,
        task,
        Cast(new_agent=lambda *_: side, new_user=lambda tools: ScriptedUser(task, tools=tools)),
        seed=300,
        max_steps=200,
        retrieval=RETRIEVAL,
        recorder=TraceRecorder("ceiling", runtime=Runtime.system()),
    )
    result = await engine.score(
        ref,
        task,
        played.messages,
        termination=played.termination,
        solo=False,
        retrieval=RETRIEVAL,
        verdicts=None,
        produced_by="rules",
        channel=channel,
    )
    return time.process_time() + engine.cpu_s() - started, played, result


def turns_of(messages, kind, *, without_greeting):
    """Return what one side says, as the engine alone is told it."""
    said = [each for each in messages if isinstance(each, kind)][without_greeting:]
    return [each.model_dump(mode="json", exclude_none=True) for each in said]


def alone(python, conversations, rounds):
    """Return the seconds of each conversation, by round, as the engine alone plays it."""
    lines = "\n".join(map(json.dumps, conversations))
    done = subprocess.run(
        [python, str(ALONE), str(rounds)], input=lines, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        sys.exit(f"the engine alone failed: {done.stderr[-2000:]}")
    found = [json.loads(line) for line in done.stderr.splitlines() if line.startswith('{"s"')]
    return [found[i : i + len(conversations)] for i in range(0, len(found), len(conversations))]


async def measure(engine, python, tasks, rounds):
    """Print a row for each domain; return whether all is as it should be."""
    await asyncio.to_thread(engine.acquire)
    fine = True
    print("| domain | conversations | alone, s | worker, s | ratio |\n|---|---|---|---|---|")
    for domain in DOMAINS:
        ids = engine.data.task_ids(domain)[:tasks]
        refs = [TaskRef(benchmark="tau2", domain=domain, id=each) for each in ids]
        first = [await play(engine, ref) for ref in refs]
        conversations = [
            {
                "domain": domain,
                "task_id": ref.id,
                "retrieval": RETRIEVAL if domain == "banking_knowledge" else None,
                "agent": turns_of(played.messages, AssistantMessage, without_greeting=True),
                "user": turns_of(played.messages, UserMessage, without_greeting=False),
            }
            for ref, (_, played, _) in zip(refs, first, strict=True)
        ]
        ours, theirs = [], []
        for _ in range(rounds):  # in turns, so that a busy minute slows both
            ours.append([(await play(engine, ref))[0] for ref in refs])
            theirs += await asyncio.to_thread(alone, python, conversations, 1)
        worker_s = sum(min(each) for each in zip(*ours, strict=True))
        alone_s = sum(min(one["s"] for one in each) for each in zip(*theirs, strict=True))
        for ref, (_, _, result), told in zip(refs, first, theirs[0], strict=True):
            counted = [each.outcome for each in result.components if each.name in result.basis]
            known = [each.value for each in counted if isinstance(each, Scored)]
            if len(known) == len(counted) and min(known, default=1.0) != told["reward"]:
                print(f"{ref}: reward {min(known)} here, {told['reward']} alone")
                fine = False
        ratio = worker_s / alone_s
        fine = fine and ratio <= MOST
        size = len(refs)
        print(f"| {domain} | {size} | {alone_s / size:.3f} | {worker_s / size:.3f} | {ratio:.2f} |")
    return fine


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", type=int, default=5, help="conversations of each domain")
    parser.add_argument("--rounds", type=int, default=3, help="how often each is played")
    parsed = parser.parse_args()
    python = os.environ.get("TAU2_PYTHON")
    if not python:
        sys.exit("set TAU2_PYTHON to the interpreter of an environment with tau2-bench")
    folder = os.environ.get("TAU2_DATA_DIR")
    engine = OfficialEngine(python, Path(folder) if folder else None)
    try:
        fine = asyncio.run(measure(engine, python, parsed.tasks, parsed.rounds))
    finally:
        engine.release()
    sys.exit(0 if fine else 1)


if __name__ == "__main__":
    main()
