"""Runs of agents that leak between conversations: found, quoted, and without effect on a score."""

import json

import pytest
from starlette.responses import JSONResponse

from adk_agent.cli import gate
from adk_agent.play.evaluation import evaluate, report_so_far, resume
from adk_agent.present.page.writing import write_page
from adk_agent.results.isolation import isolation_line
from adk_agent.results.markdown import render_markdown
from adk_agent.runs.store import MARKDOWN, REPORT, load_report
from tau_bridge.a2a.messenger import Messenger
from tests.fakes import raw_agent, scripted_agent
from tests.fakes.leaking import LEAKING, forthcoming

pytestmark = [
    pytest.mark.usefixtures("quick_start"),
    pytest.mark.requirement("test:isolation"),
]

URL = "http://agent.test"
AIRLINE = {"domain": "airline", "task_ids": ("1", "6", "21")}


@pytest.fixture
def played(make_deps, make_plan):
    """The report of a run with an application in this process."""

    async def play(app, **plan):
        deps = make_deps(new_messenger=lambda: Messenger(apps={URL: app}))
        return await evaluate(make_plan(URL, **{**AIRLINE, **plan}), deps, request=""), deps

    return play


def is_probe(text):
    return "small hotel" in text or "the customer before me" in text


def leaky_trials():
    """Tells the user of a trial how the one before began, and nothing to probes."""
    said = {}

    def reply(text, context_id):
        if is_probe(text):
            return "Sorry."
        others = [each for key, each in said.items() if key != context_id]
        said.setdefault(context_id, text.rpartition("Now here are the user messages:")[2])
        return json.dumps(
            {"name": "respond", "arguments": {"content": others[-1] if others else "?"}}
        )

    return scripted_agent(reply, reply_transport="message", streaming=False)


async def test_without_a_flag_trials_are_compared_and_a_leak_is_quoted_from_both(played):
    report, _ = await played(leaky_trials(), max_concurrency=1)
    [row] = report.isolation
    assert (row.status, row.probes, row.trials) == ("leaks", None, 3)
    assert [key[2] for key in row.trials_with_leaks] == ["6", "21"]
    leak = row.leaks[0]
    assert (leak.way, leak.said_in, leak.came_out_in) == (
        "trials",
        "airline 1 trial 0",
        "airline 6 trial 0",
    )
    assert leak.value in leak.said
    assert leak.value in leak.came_out
    assert isolation_line(row) in report.warnings
    assert gate.exit_code(report, None) == gate.isolation_code(report) == 0


async def test_trials_that_passed_while_they_leaked_are_counted_and_keep_their_reward(played):
    leaking, _ = await played(leaky_trials(), max_concurrency=1, task_ids=("21", "1", "6"))
    assert [trial.passed for trial in leaking.trials] == [False, True, True]
    [row] = leaking.isolation
    assert (len(row.trials_with_leaks), row.passed_with_leaks) == (2, 2)
    assert leaking.pass_1 == pytest.approx(2 / 3)


async def test_probes_change_no_score_and_are_no_trials(played):
    agent = LEAKING["lower case"]
    probed, _ = await played(scripted_agent(agent(), reply_transport="message"), isolation=True)
    assert len(probed.trials) == 3
    assert [trial.reward for trial in probed.trials] == [1.0, 1.0, 0.0]
    [row] = probed.isolation
    assert (row.status, row.probes, row.probes_with_leaks) == ("leaks", 13, 13)
    assert not row.trials_with_leaks
    assert gate.exit_code(probed, None) == 0
    assert gate.isolation_code(probed) == 1


async def test_nothing_found_says_how_often_was_looked(played):
    report, deps = await played(scripted_agent(forthcoming()), isolation=True)
    [row] = report.isolation
    assert row.status == "none found"
    assert isolation_line(row) == f"{URL}: no leak found in 14 probes and 3 compared trials"
    assert gate.isolation_code(report) == 0
    markdown = (deps.results_dir / "run-1" / MARKDOWN).read_text()
    assert "## Isolation" in markdown
    assert "not that the agent keeps all conversations apart" in markdown


async def test_an_agent_that_breaks_while_it_is_probed_keeps_its_score(played):
    async def answer(request):
        asked = await request.json()
        if is_probe(json.dumps(asked)):
            error = {"code": -32603, "message": "KeyError: 'flight'"}
            return JSONResponse({"jsonrpc": "2.0", "id": asked["id"], "error": error})
        message = {"messageId": "1", "role": "ROLE_AGENT", "parts": [{"text": "Sorry."}]}
        return JSONResponse({"jsonrpc": "2.0", "id": asked["id"], "result": {"message": message}})

    report, _ = await played(raw_agent(answer, streaming=False), isolation=True)
    assert [trial.status for trial in report.trials] == ["scored"] * 3
    [row] = report.isolation
    assert (row.status, row.probes, len(row.unanswered)) == ("none found", 0, 12)
    assert "KeyError: 'flight'" in row.unanswered[0]
    assert isolation_line(row) == f"{URL}: no leak found in 3 compared trials"


async def test_one_trial_alone_is_unscored_and_not_clean(played):
    report, _ = await played(scripted_agent(forthcoming()), task_ids=("1",))
    [row] = report.isolation
    assert row.status == "unscored"
    assert "two tasks" in row.reason


async def test_the_page_shows_what_came_out_beside_what_was_said(played, benchmarks):
    report, deps = await played(leaky_trials(), max_concurrency=1)
    page = write_page(deps.results_dir, "run-1", benchmarks=benchmarks).read_text()
    assert '<section id="isolation"' in page
    assert page.count("told what belongs to another conversation") >= 3
    assert "airline 6 trial 0" in page
    assert render_markdown(report).count("leak of") == len(report.isolation[0].leaks)


async def test_bundled_agents_are_clean_and_the_leaky_ones_found(make_deps, make_plan):
    names = ("null", "echo", "oracle", "reference", "leaky", "leaky-context")
    plan = make_plan(*(f"builtin:{name}" for name in names), **AIRLINE)
    report = await evaluate(plan, make_deps(), request="")
    status = {row.participant.removeprefix("builtin:"): row.status for row in report.isolation}
    assert status == dict.fromkeys(names[:4], "none found") | dict.fromkeys(names[4:], "leaks")


async def test_a_run_that_died_before_its_probes_sends_them_when_it_is_resumed(played, make_deps):
    app = scripted_agent(LEAKING["code spelled"](), reply_transport="message")
    report, deps = await played(app, isolation=True)
    folder = deps.results_dir / "run-1"
    (folder / REPORT).unlink()
    kept = await report_so_far("run-1", deps)
    assert kept.isolation[0].skipped[0].startswith("at all: the run ended before its probes")
    assert kept.isolation[0].probes_with_leaks == 0
    resumed = await resume("run-1", deps)
    assert resumed.isolation == report.isolation
    assert load_report(deps.results_dir, "run-1").isolation == report.isolation
