"""An evaluation goes on, whatever one of its participants does."""

import json
from dataclasses import replace

import pytest

from adk_agent.play.evaluation import evaluate
from adk_agent.runs.store import load_trials
from tau_bridge.a2a.credentials import Credentials
from tau_bridge.a2a.limits import MessengerLimits
from tau_bridge.a2a.messenger import Messenger
from tau_bridge.a2a.policy import NetworkPolicy
from tau_bridge.errors import AgentSilentError
from tests.fakes import scripted_agent, serve
from tests.fakes.behaviours import CATALOGUE
from tests.fakes.hostile import invalid_card
from tests.fakes.shop import lets_in, with_card

CREATE = {
    "name": "create_task",
    "arguments": {"user_id": "user_1", "title": "Important Meeting"},
}
DONE = {"name": "respond", "arguments": {"content": "Done. Is there anything else?"}}
LIMITS = MessengerLimits(
    timeout_s=20.0,
    cancel_timeout_s=0.1,
    settle_s=0.01,
    poll_interval_s=0.001,
    max_events=300,
    retry_wait_s=0.001,
)
IMPATIENT = replace(LIMITS, timeout_s=3.0)
BY_NAME = {behaviour.name: behaviour for behaviour in CATALOGUE}

PLAYED = {
    # On whose side its trials break; None of those that are played to the end.
    "never answers": "agent",
    "works for ever": "agent",
    "drips half an event": "agent",
    "resets in its stream": "infrastructure",
    "sends 20,000 headers": "agent",
    "sends a gzip bomb": "agent",
    "is always busy": "infrastructure",
    "redirects with 307": "infrastructure",
    "sends half a character": "agent",
    "sends an integer beyond all": "agent",
    "sends 20 MB": "agent",
    "reports without end": "agent",
    "fails its task": "agent",
    "asks for ever": None,
    "appends before it began": None,
    "plays both sides": None,
    "orders the judge": None,
    "orders the interpreter": None,
    "colours the terminal": None,
}


def creates_the_task(text, context_id):
    return json.dumps(DONE if text.startswith("{") else CREATE)


@pytest.mark.parametrize("name", sorted(PLAYED))
async def test_the_trials_of_others_go_on_beside_a_broken_agent(make_deps, make_plan, name):
    limits = IMPATIENT if BY_NAME[name].error is AgentSilentError else LIMITS
    deps = make_deps(new_messenger=lambda: Messenger(limits=limits))
    async with BY_NAME[name].serving() as bad:
        with serve(scripted_agent(creates_the_task)) as good:
            report = await evaluate(make_plan(bad, good, num_trials=2), deps, request="")
    bad_row, good_row = report.summary
    assert (good_row.passed, good_row.scored, good_row.mean_reward) == (2, 2, 1.0)
    assert bad_row.passed == 0
    records = load_trials(deps.results_dir, "run-1")
    faults = {record.row.fault for record in records if record.row.participant == bad}
    assert faults == {PLAYED[name]}


CARD_OF_DIGITS = """{
    "name": "Digits", "version": "1", "capabilities": {"extensions": [
        {"uri": "https://e.test/1", "params": {"n": 1%s}}
    ]}, "supportedInterfaces": [{"url": "/", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}]
}""" % ("0" * 309)


@pytest.mark.parametrize("card", [CARD_OF_DIGITS, '{"name": ["not", "a", "card"]}'])
async def test_an_agent_that_is_not_ready_does_not_keep_another_from_being_played(
    make_deps, make_plan, card
):
    deps = make_deps()
    with serve(invalid_card(card)) as bad, serve(scripted_agent(creates_the_task)) as good:
        report = await evaluate(make_plan(bad, good, num_trials=2), deps, request="")
    bad_row, good_row = report.summary
    assert (good_row.passed, good_row.scored, good_row.mean_reward) == (2, 2, 1.0)
    assert (bad_row.failed, bad_row.scored) == (2, 0)
    assert report.status == "incomplete"
    reasons = {trial.reason for trial in report.trials if trial.participant == bad}
    assert all(reason.startswith("it was not ready: fetching the card") for reason in reasons)


async def test_a_participant_that_may_not_be_called_ends_the_run_before_it_begins(
    make_deps, make_plan
):
    deps = make_deps(new_messenger=lambda: Messenger(policy=NetworkPolicy.public()))
    with (
        serve(scripted_agent(creates_the_task)) as url,
        pytest.raises(Exception, match="GREENROOM_ALLOWED_HOSTS") as caught,
    ):
        await evaluate(make_plan(url), deps, request="")
    assert type(caught.value).__name__ == "PreflightError"


def sign(card):
    card["signatures"] = [{"protected": "no header", "signature": "c2ln"}]


async def test_a_broken_signature_of_a_card_is_a_warning(make_deps, make_plan):
    with (
        serve(with_card(scripted_agent(creates_the_task), sign)) as signed,
        serve(scripted_agent(creates_the_task)) as plain,
    ):
        report = await evaluate(make_plan(signed, plain), make_deps(), request="")
    assert [row.passed for row in report.summary] == [1, 1]
    [told] = [each for each in report.warnings if "signed" in each]
    assert told.startswith(
        f"the card of {signed} is signed, and not as it should be: its signature"
    )


async def test_a_signature_of_a_card_behind_a_key_is_looked_at_with_the_key(make_deps, make_plan):
    app = with_card(scripted_agent(creates_the_task), sign)
    admits = lambda request: request.headers.get("x-key") == "the-key"  # noqa: E731
    with serve(lets_in(app, admits, methods=("GET", "POST"))) as url:
        given = {url: Credentials.of_header("X-Key", "the-key")}
        deps = make_deps(new_messenger=lambda: Messenger(credentials=given))
        report = await evaluate(make_plan(url), deps, request="")
    assert [row.passed for row in report.summary] == [1]
    assert any("signed, and not as it should be" in each for each in report.warnings)
