"""Answers of language models that are kept, and which of them are given again."""

import json
import logging
import os
from dataclasses import replace

import pytest
from pydantic import SecretStr

from adk_agent.core.answer_cache import MAX_ANSWER_BYTES, AnswerCache, key_of
from adk_agent.core.errors import ModelError, StorageError
from adk_agent.core.models import LiteLlmCompletion, ModelSpec
from adk_agent.core.settings import Settings
from adk_agent.play.evaluation import evaluate
from adk_agent.runs.store import load_trials
from tau_bridge.completion import CompletionResult
from tau_bridge.messages import ToolCall
from tests.fakes import serve
from tests.fakes.runtime import chat_model

KEY = "sk-very-secret"
HELLO = [{"role": "user", "content": "hello"}]

pytestmark = [
    # litellm and its aiohttp transport, as of litellm 1.106.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore:Pydantic serializer warnings:UserWarning"),
]


class Model:
    """A server of one language model. `answer` may be set; `asked` are the requests."""

    def __init__(self):
        self.asked = []
        self.answer = "###STOP###"
        self.url = ""

    def __call__(self, request):
        self.asked.append(request)
        return self.answer(request) if callable(self.answer) else self.answer


@pytest.fixture(scope="module")
def served():
    model = Model()
    with serve(chat_model(model)) as url:
        model.url = url
        yield model


@pytest.fixture
def model(served):
    served.asked.clear()
    served.answer = "###STOP###"
    return served


@pytest.fixture
def cache(tmp_path):
    return AnswerCache(tmp_path / "cache")


def spec_of(model, **changes):
    fields = {
        "name": "tiny",
        "litellm_name": "openai/tiny",
        "api_key": SecretStr(KEY),
        "base_url": f"{model.url}/v1",
        **changes,
    }
    return ModelSpec(**fields)


def call(name="f"):
    return ToolCall(id="c1", name=name, arguments={"é": [1, None]}, requestor="user")


def file_of(folder, key):
    [path] = folder.rglob(f"{key}.json")
    return path


def test_an_answer_comes_back_as_it_was_and_costs_nothing(cache):
    answer = CompletionResult(
        content="Hi", tool_calls=(call(),), total_tokens=9, cost=0.5, model="tiny"
    )
    cache.put("ab12", answer)
    kept = cache.get("ab12")
    assert (kept.content, kept.tool_calls, kept.model) == ("Hi", (call(),), "tiny")
    assert (kept.total_tokens, kept.cost, kept.cached) == (0, 0.0, True)
    assert cache.get("ab13") is None


@pytest.mark.parametrize(
    "damage", [b"", b"{", b"[]", b"\xff", b'{"schema_version": 1}', b" " * (MAX_ANSWER_BYTES + 9)]
)
def test_a_damaged_answer_is_none_and_is_written_anew(cache, tmp_path, damage):
    answer = CompletionResult(content="Hi", model="tiny")
    cache.put("ab12", answer)
    file_of(tmp_path, "ab12").write_bytes(damage)
    assert cache.get("ab12") is None
    cache.put("ab12", answer)
    assert cache.get("ab12").content == "Hi"


def test_an_answer_that_is_too_large_is_not_kept(cache):
    cache.put("ab12", CompletionResult(content="x" * MAX_ANSWER_BYTES, model="tiny"))
    assert cache.get("ab12") is None


def test_a_folder_that_cannot_be_used_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="file"):
        AnswerCache(tmp_path / "file")


def test_a_folder_that_goes_away_is_told_once_and_stops_nothing(cache, tmp_path, caplog):
    (tmp_path / "cache").rmdir()
    (tmp_path / "cache").write_text("")
    with caplog.at_level(logging.WARNING):
        for key in ("ab12", "ab13"):
            cache.put(key, CompletionResult(content="Hi", model="tiny"))
            cache.forget(key)
    [told] = caplog.messages
    assert told.startswith("answers of language models are not kept: cannot use")


def test_the_order_of_a_questions_parts_makes_no_other_question():
    assert key_of({"a": 1, "b": {"c": 2, "d": "é"}}) == key_of({"b": {"d": "é", "c": 2}, "a": 1})
    assert key_of({"a": 1}) != key_of({"a": 2})


async def test_whatever_an_answer_depends_on_makes_another_question(model, cache):
    spec = spec_of(model)
    different = [
        spec,
        replace(spec, litellm_name="openai/other"),
        replace(spec, base_url=f"{model.url}/v1/"),
        replace(spec, arguments={"temperature": 0.5}),
    ]
    asking = [LiteLlmCompletion(each, answers=cache) for each in different]
    asking += [asking[0].of_trial(1), asking[0].of_trial(2), asking[0].seeded(1)]
    for _ in range(2):
        for completion in asking:
            await completion(HELLO)
    await asking[0]([{"role": "user", "content": "Hello"}])
    assert len(model.asked) == len(asking) + 1


async def test_another_key_or_more_patience_is_the_same_question(model, cache, tmp_path):
    spec = spec_of(model)
    for each in (spec, replace(spec, api_key=None), replace(spec, arguments={"timeout": 7})):
        await LiteLlmCompletion(each, answers=cache)(HELLO)
    assert len(model.asked) == 1
    assert KEY not in "".join(path.read_text() for path in tmp_path.rglob("*.json"))


@pytest.mark.parametrize("useless", [400, ""])
async def test_a_failure_and_an_empty_answer_are_not_kept(model, cache, useless):
    completion = LiteLlmCompletion(spec_of(model, arguments={"num_retries": 0}), answers=cache)
    model.answer = useless
    try:
        assert not (await completion(HELLO)).content
    except ModelError:
        assert useless == 400
    model.answer = "Hi"
    assert [(await completion(HELLO)).cached for _ in range(2)] == [False, True]


def deps_of(make_deps, model, cache, **changes):
    settings = Settings.load(llm_api_key=KEY, llm_base_url=f"{model.url}/v1", llm_model="tiny")
    return make_deps(settings=settings, answers=cache, **changes)


@pytest.mark.parametrize("arguments", [{}, {"seed": 7}])
async def test_a_second_run_asks_no_user_again_and_says_so(
    make_deps, make_plan, model, cache, arguments
):
    plan = make_plan("builtin:null", num_trials=2, user_llm_args=arguments)
    deps = deps_of(make_deps, model, cache)
    first = await evaluate(plan, deps, request="", run_id="first")
    asked = len(model.asked)
    second = await evaluate(plan, deps, request="", run_id="second")
    preflight = len(model.asked) - asked
    assert asked - preflight == 2  # both trials: they do not share an answer
    assert not any("cache" in warning for warning in first.warnings)
    assert any("2 of 2 answers of the user's" in warning for warning in second.warnings)
    assert [row.reward for row in first.trials] == [row.reward for row in second.trials]
    assert {row.total_tokens for row in first.trials} == {7}
    assert {(row.total_tokens, row.cost) for row in second.trials} == {(0, 0.0)}
    for record in load_trials(deps.results_dir, "second"):
        [step] = [step for step in record.trace.steps if step.callee == "tiny"]
        assert step.additional_attributes == {"cached": "true"}


def test_two_that_keep_the_same_answer_at_once_do_not_get_in_each_others_way(
    tmp_path, monkeypatch, caplog
):
    mine, theirs = (AnswerCache(tmp_path / "cache") for _ in range(2))
    first, second = (
        CompletionResult(content=text, model="m") for text in ("one", "two, and longer")
    )
    replace_file = os.replace

    def theirs_comes_between(draft, path):
        monkeypatch.setattr(os, "replace", replace_file)
        theirs.put("ab12", second)
        replace_file(draft, path)

    monkeypatch.setattr(os, "replace", theirs_comes_between)
    mine.put("ab12", first)
    assert caplog.text == ""
    assert mine.get("ab12").content == "one"
    assert [path.name for path in (tmp_path / "cache" / "ab").iterdir()] == ["ab12.json"]


async def test_a_question_that_json_cannot_hold_is_asked_every_time(model, tmp_path):
    spec = spec_of(model, arguments={"metadata": {"x": float("nan")}})
    with pytest.raises(ValueError, match="not JSON compliant"):
        key_of(spec.arguments)
    completion = LiteLlmCompletion(spec, answers=AnswerCache(tmp_path / "cache"))
    for _ in range(2):
        assert (await completion(HELLO)).content == "###STOP###"
    assert len(model.asked) == 2
    assert list((tmp_path / "cache").iterdir()) == []


JUDGED = {
    "id": "judged",
    "user_scenario": {"instructions": "You want a kind word."},
    "evaluation_criteria": {
        "actions": [],
        "nl_assertions": ["The agent greets."],
        "reward_basis": ["NL_ASSERTION"],
    },
}


async def test_answers_that_a_judge_was_no_use_with_are_not_given_again(
    make_deps, make_plan, make_source, model, cache
):
    def judging(verdicts):
        def answer(request):
            is_judge = "<statements>" in str(request["messages"])
            return verdicts if is_judge else "###STOP###"

        return answer

    deps = deps_of(make_deps, model, cache, benchmarks=make_source(JUDGED))
    plan = make_plan("builtin:null", task_ids=["judged"])
    model.answer = judging("All is well!")
    [broken] = (await evaluate(plan, deps, request="", run_id="first")).trials
    assert (broken.status, broken.fault) == ("failed", "infrastructure")
    model.answer = judging(json.dumps([{"number": 1, "met": True}]))
    [scored] = (await evaluate(plan, deps, request="", run_id="second")).trials
    assert (scored.status, scored.reward) == ("scored", 1.0)
    model.answer = judging("never asked")
    [again] = (await evaluate(plan, deps, request="", run_id="third")).trials
    assert (again.status, again.reward) == ("scored", 1.0)
