"""One agent over every transport: the same task comes to the same result and the same trace."""

import contextlib
import json

import pytest

from adk_agent.assembly import Assembly
from adk_agent.core.errors import PreflightError
from adk_agent.core.settings import Settings
from adk_agent.play.evaluation import evaluate
from adk_agent.runs.store import load_trials
from tau_bridge.a2a.messenger import Messenger
from tests.fakes import scripted_agent, serve

pytestmark = pytest.mark.usefixtures("quick_start")

SHOP = "http://shop.test"
NAMED_BY_THE_AGENT = ("context_id", "task_id", "reply_bytes")
"""Attributes of a step that differ from call to call, or from one encoding to another."""


def creates_the_task(text, context_id):
    arguments = {"user_id": "user_1", "title": "Important Meeting"}
    create = {"name": "create_task", "arguments": arguments}
    done = {"name": "respond", "arguments": {"content": "Done. Is there anything else?"}}
    return json.dumps(done if text.startswith("{") else create)


def fails(text, context_id):
    raise ValueError("no model")


@contextlib.contextmanager
def reached_over(transport, agent):
    """Serves the agent; yields its address, and the applications of a messenger for it."""
    if transport == "in-process":
        yield SHOP, {SHOP: scripted_agent(agent)}
    else:
        with serve(scripted_agent(agent, bindings=(transport,))) as url:
            yield url, {}


def without_what_differs(record, address):
    """A trial's record as JSON, without its agent's address and what the agent's server makes up."""
    text = record.model_dump_json().replace(address, "AGENT")
    found = json.loads(text.replace(record.trace.trace_id, "TRACE"))
    for step in found["trace"]["steps"]:
        for name in NAMED_BY_THE_AGENT:
            step["additional_attributes"].pop(name, None)
    return found


@pytest.mark.requirement("seam:transport")
@pytest.mark.extras
async def test_the_same_task_has_the_same_reward_row_and_trace_over_every_transport(
    make_deps, make_plan, tmp_path
):
    pytest.importorskip("grpc", reason="the extra grpc is not installed: make setup_all")
    found = {}
    for transport in ("JSONRPC", "HTTP+JSON", "GRPC", "in-process"):
        with reached_over(transport, creates_the_task) as (url, apps):
            deps = make_deps(
                new_messenger=lambda apps=apps: Messenger(apps=apps),
                results_dir=tmp_path / transport.replace("+", "-"),
            )
            report = await evaluate(make_plan(url), deps, request="")
            [record] = load_trials(deps.results_dir, "run-1")
        assert [trial.reward for trial in report.trials] == [1.0]
        found[transport] = without_what_differs(record, url)
    assert len(found["JSONRPC"]["trace"]["steps"]) == 3
    for transport, record in found.items():
        assert record == found["JSONRPC"], transport


@pytest.mark.parametrize("transport", ["JSONRPC", "HTTP+JSON", "GRPC", "in-process"])
async def test_an_agent_that_breaks_is_scored_0_over_every_transport(
    make_deps, make_plan, transport
):
    if transport == "GRPC":
        pytest.importorskip("grpc", reason="the extra grpc is not installed: make setup_all")
    with reached_over(transport, fails) as (url, apps):
        deps = make_deps(new_messenger=lambda: Messenger(apps=apps))
        report = await evaluate(make_plan(url), deps, request="")
    (row,) = report.trials
    assert (row.status, row.reward, row.fault) == ("scored", 0.0, "agent")
    assert "sending a message to the agent" in row.reason


async def test_an_application_in_this_process_is_evaluated_without_a_port(make_plan, tmp_path):
    settings = Settings.load(offline=True).model_copy(update={"results_dir": tmp_path})
    assembly = Assembly(settings=settings, apps={SHOP: scripted_agent(creates_the_task)})
    report = await evaluate(make_plan(SHOP), assembly.evaluation_deps(), request="")
    assert [(row.participant, row.reward) for row in report.trials] == [(SHOP, 1.0)]


def test_an_application_in_this_process_is_not_looked_for_in_other_ones():
    assembly = Assembly(
        settings=Settings.load(offline=True),
        apps={SHOP: scripted_agent(creates_the_task)},
        executor="ray",
    )
    with pytest.raises(PreflightError, match=r"shop\.test.*in this process"):
        assembly.evaluation_deps()
