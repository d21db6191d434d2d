"""performance/selector.py: a corpus of requests, read by a scripted model or by rules."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from adk_agent.core.plan import EvaluationRequest
from adk_agent.requests.draft import IntentDraft
from performance._corpus import ASK_OR_REFUSE, Case, Reading, judge, load, read_plan
from tests.fakes import serve
from tests.fakes.runtime import chat_model

REPOSITORY = Path(__file__).parents[2]
CASES = [
    {
        "id": "1",
        "text": "deux tâches mock pour null",
        "expect": {
            "do": "evaluate",
            "agents": ["builtin:null"],
            "selections": [{"domain": "mock", "num_tasks": 2}],
        },
    },
    {"id": "2", "text": "null on mock every night, please", "expect": {"do": "ask-or-refuse"}},
    {"id": "3", "text": "hey, what is this floor all about then?", "expect": {"do": "explain"}},
]


def request(**fields):
    mock = [{"domain": "mock", **fields}]
    participants = [{"role": "null", "address": "builtin:null"}]
    return EvaluationRequest.model_validate({"participants": participants, "selections": mock})


@pytest.fixture
def judged(benchmarks):
    def run(played, expected=None, *, asked=False, **fields):
        case = Case(
            name="x",
            kind="x",
            text="x",
            do=ASK_OR_REFUSE if expected is None else "evaluate",
            request=expected,
            **fields,
        )
        plan = read_plan(played, benchmarks)
        verdict = judge(case, Reading(intent="evaluate", plan=plan, asked=asked), benchmarks)
        return verdict.outcome, verdict.unasked

    return run


def test_a_plan_is_right_where_it_plays_what_was_expected(judged):
    two = request(num_tasks=2)
    assert judged(two, two) == ("right", 0)
    assert judged(two, two, asked=True) == ("right, asked", 0)
    assert judged(request(num_tasks=2, first=True), two)[0] == "wrong plan"


def test_conversations_beyond_what_was_expected_are_counted_unless_they_are_confirmed(judged):
    assert judged(request(), request(num_tasks=2)) == ("wrong plan", 7)
    assert judged(request(), request(num_tasks=2), asked=True) == ("asked", 0)
    assert judged(request(num_tasks=3)) == ("wrong plan", 3)
    assert judged(request(num_tasks=3), asked=True) == ("right", 0)


def test_tasks_of_a_topic_are_right_where_they_are_about_it(judged):
    about = {"relevant": {"mock": {"create_task_1", "update_task_1"}}, "counts": {"mock": 1}}
    one, other = request(task_ids=("update_task_1",)), request(task_ids=("impossible_task_1",))
    assert judged(one, request(), **about) == ("right", 0)
    assert judged(other, request(), **about) == ("wrong plan", 1)
    both = request(task_ids=("create_task_1", "update_task_1"))
    assert judged(both, request(), **about) == ("wrong plan", 1)


def test_our_own_corpus_is_read():
    cases = load(REPOSITORY / "data" / "requests.jsonl")
    assert len(cases) > 300
    assert {case.do for case in cases} == {"evaluate", "play-nothing"}


def drafted(intent, **fields):
    return IntentDraft.model_validate({"intent": intent, **fields}).model_dump_json()


def answer(asked):
    text = asked["messages"][-1]["content"]
    if "floor" in text:
        return drafted("explain", term="floor")
    if "night" in text:
        return drafted("refuse", reason="Schedules are not offered.")
    two = [{"domain": "mock", "num_tasks": 2}]
    return drafted("evaluate", agents=["builtin:null"], selections=two)


def run(*arguments, **variables):
    return subprocess.run(
        [sys.executable, "performance/selector.py", *map(str, arguments)],
        cwd=REPOSITORY,
        env={"PATH": "/usr/bin:/bin", **variables},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.slow
def test_a_model_is_measured_by_class_with_its_calls_and_tokens(tmp_path):
    corpus = tmp_path / "some.jsonl"
    corpus.write_text("\n".join(map(json.dumps, CASES)))
    with serve(chat_model(answer)) as url:
        done = run(
            *("--model", "openai/tiny", "--corpus", corpus),
            OPENAI_API_BASE=f"{url}/v1",
            OPENAI_API_KEY="sk-very-secret",
        )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "right: 3 of 3; conversations that nobody asked for: 0" in done.stdout
    assert "3 calls, at most 1 for one request" in done.stdout
    assert "price unknown; 0 requests were read by rules instead" in done.stdout
    assert "sk-very-secret" not in done.stdout + done.stderr


@pytest.mark.slow
def test_without_a_model_the_rules_are_measured():
    done = run("--limit", "10")
    assert "right: 10 of 10" in done.stdout, done.stdout + done.stderr
