"""The public face: evaluate, compare and load_report over what the command line uses."""

import asyncio
import subprocess
import sys
from importlib.metadata import version

import pytest

import greenroom
from tests.fakes import scripted_agent, serve


def test_the_public_names_are_there_and_importing_them_costs_nothing():
    code = "import sys, greenroom; print(*sorted({'pydantic', 'litellm', 'google'} & set(sys.modules)))"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.split() == []
    assert greenroom.__version__ == version("greenroom")
    assert all(getattr(greenroom, name) is not None for name in greenroom.__all__)
    assert dir(greenroom) == sorted(greenroom.__all__)
    with pytest.raises(AttributeError, match="no attribute 'evaluation'"):
        _ = greenroom.evaluation


def run_outside_of_a_loop(function):
    """What a caller without an event loop gets."""
    return asyncio.to_thread(function)


async def test_an_agent_at_an_address_is_evaluated_and_its_runs_compared(tmp_path):
    agent = scripted_agent(lambda text, context_id: "I cannot help with that.")
    with serve(agent) as url:
        options = {"tasks": 2, "trials": 2, "results_dir": tmp_path, "offline": True}
        first = await run_outside_of_a_loop(lambda: greenroom.evaluate(url, "mock", **options))
        second = await greenroom.aevaluate(url, "tau2/mock", **options)
    assert (first.status, len(first.trials)) == ("complete", 4)
    assert {row.participant for row in first.trials} == {url}
    assert greenroom.load_report(tmp_path / first.run_id) == first
    assert greenroom.load_report(tmp_path / first.run_id / "report.json") == first
    compared = greenroom.compare(first, tmp_path / second.run_id)
    assert compared == greenroom.compare(first, second)


async def test_tasks_are_named_by_id_and_agents_by_name(tmp_path):
    report = await greenroom.aevaluate(
        ["null", "echo"], "mock", tasks=["create_task_1"], results_dir=tmp_path, offline=True
    )
    assert [(row.participant, row.task_id) for row in report.trials] == [
        ("builtin:null", "create_task_1"),
        ("builtin:echo", "create_task_1"),
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("null", "nowhere"), "nowhere"),
        (("no such agent", "mock"), "no such agent"),
        (("null", "nope/mock"), "no benchmark 'nope', only tau2, .*did you mean 'tau2/mock'"),
        (("null", "airline/mock"), "no benchmark 'airline', only tau2, .*did you mean 'tau2/mock'"),
        (("null", "business/mock"), "'business' has no domain 'mock': did you mean 'tau2/mock'"),
        (("null", "tau2/airlines"), "'tau2' has no domain 'airlines': did you mean 'airline'"),
    ],
)
async def test_what_does_not_exist_is_refused_by_name(arguments, message, tmp_path):
    with pytest.raises(greenroom.GreenroomError, match=message):
        await greenroom.aevaluate(*arguments, tasks=1, results_dir=tmp_path, offline=True)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"agent": None}, "agent is None: give an address, .* a function"),
        ({"agent": [None]}, "agent is None: give an address, .* a function"),
        ({"agent": "nul"}, "^there is no agent 'nul': did you mean 'null'"),
        ({"benchmark_or_domain": ["mock"]}, "benchmark_or_domain is .'mock'.: give one name"),
        ({"tasks": 0}, "tasks is 0: give a whole number from 1"),
        ({"tasks": 1.5}, r"tasks is 1\.5: give a whole number"),
        ({"tasks": True}, "tasks is True: give a whole number"),
        ({"tasks": [1]}, "tasks is .1.: give a text, or a list"),
        ({"tasks": "create_task"}, "unknown task 'create_task'.*did you mean"),
        ({"trials": 0}, "^trials is 0: give a whole number from 1"),
        ({"seed": "x"}, "seed is 'x'"),
        ({"chaos": "netwrk"}, "^chaos 'netwrk': .*did you mean 'network'"),
        ({"chaos": {"delay": 2.0}}, "^chaos 'delay=2.0': .*write a share from 0 to 1"),
        ({"chaos": 3}, "chaos is 3"),
        ({"timeout_s": 0}, "timeout_s is 0"),
        ({"options": 5}, "options is 5"),
    ],
)
async def test_a_value_that_cannot_be_used_is_refused_by_the_name_of_its_parameter(
    given, message, tmp_path
):
    usual = {"agent": "null", "benchmark_or_domain": "mock", "results_dir": tmp_path}
    with pytest.raises(greenroom.GreenroomError, match=message):
        await greenroom.aevaluate(**{**usual, "offline": True, **given})


async def test_one_task_may_be_named_by_its_id_alone(tmp_path):
    report = await greenroom.aevaluate(
        "null", "mock", tasks="create_task_1", results_dir=tmp_path, offline=True
    )
    assert [row.task_id for row in report.trials] == ["create_task_1"]


@pytest.mark.parametrize("run", [None, 5])
def test_what_cannot_be_a_run_is_refused(run):
    with pytest.raises(greenroom.GreenroomError, match=f"{run} is no run"):
        greenroom.compare(run, run)


async def test_task_data_that_cannot_be_used_are_an_error(tmp_path, monkeypatch):
    monkeypatch.setenv("TAU2_DATA_DIR", str(tmp_path / "gone"))
    with pytest.raises(greenroom.GreenroomError, match="gone"):
        await greenroom.aevaluate("null", "mock", results_dir=tmp_path, offline=True)


async def test_an_unknown_option_is_a_type_error_that_names_the_options():
    with pytest.raises(TypeError, match=r"no option 'timeout'.* timeout_s"):
        await greenroom.aevaluate("null", "mock", timeout=1)


async def test_where_a_loop_runs_the_message_says_what_to_await():
    with pytest.raises(RuntimeError, match=r"await greenroom\.aevaluate"):
        greenroom.evaluate("null", "mock")


async def test_an_agent_that_cannot_be_reached_is_an_error(tmp_path):
    with pytest.raises(greenroom.GreenroomError):
        await greenroom.aevaluate(
            "http://127.0.0.1:9", "mock", tasks=1, results_dir=tmp_path, offline=True
        )


async def test_questions_and_requests_are_asked_in_english(tmp_path):
    options = {"results_dir": tmp_path, "offline": True}
    played = await greenroom.aask("Evaluate builtin:null on one mock task", **options)
    assert played.report.status == "complete"
    assert "## Summary" in played.text
    told = await run_outside_of_a_loop(
        lambda: greenroom.ask("show the results", run=played.report.run_id, **options)
    )
    assert "builtin:null" in told.text
    assert (await greenroom.aask("show the results", **options)).text == told.text  # the newest
    offered = await greenroom.aask("run it again", **options)
    assert offered.is_question
    assert played.report.run_id in offered.text
    page = await greenroom.aask("export the page", run=played.report.run_id, **options)
    assert [path.name for path in page.files] == ["report.html"]


@pytest.mark.parametrize(
    ("text", "words"),
    [(" ", "give a question"), (7, "give a question"), ("what does frobnication mean?", "no term")],
)
async def test_a_question_without_an_answer_is_refused(tmp_path, text, words):
    with pytest.raises(greenroom.GreenroomError, match=words):
        await greenroom.aask(text, results_dir=tmp_path, offline=True)


async def test_asking_in_a_loop_is_refused_as_evaluating_is(tmp_path):
    with pytest.raises(RuntimeError, match="aask"):
        greenroom.ask("help", results_dir=tmp_path)
