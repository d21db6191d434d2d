"""The reference agent reports with each reply what its language model used."""

import itertools

import pytest
from pydantic import SecretStr

from purple_agent.model_usage import ModelUsage, counted_in, note_call
from purple_agent.reference.server import build_reference_app
from purple_agent.settings import ModelChoice, ReferenceSettings
from tau_bridge.a2a.messenger import Messenger
from tau_bridge.clock import Runtime, SystemClock
from tau_bridge.recorder import TraceRecorder
from tests.fakes import serve
from tests.purple_agent.reasoners.scripted_model import ScriptedModel

pytestmark = [
    pytest.mark.requirement("use:usage"),
    # litellm and its aiohttp transport, as of litellm 1.106.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore:Pydantic serializer warnings:UserWarning"),
]
KNOWN = {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15, "cost": 0.75}
NOTHING = dict.fromkeys(KNOWN, 0)


def test_calls_add_up_until_they_are_taken():
    usage = ModelUsage()
    with counted_in(usage):
        note_call(10, 1, 0.5)
        note_call(2, 2, 0.25)
    note_call(99, 99, 99.0)  # of no conversation
    assert usage.take() == KNOWN
    assert usage.take() == NOTHING


def test_a_call_without_a_figure_makes_the_sum_unknown_and_not_smaller():
    usage = ModelUsage()
    usage.add(10, 1, None)
    usage.add(2, 2, 0.25)
    assert usage.take() == {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15}
    usage.add(None, None, None)
    assert usage.take() == {}
    assert usage.take() == NOTHING


async def steps_of(settings, *texts):
    numbers = itertools.count(1)
    runtime = Runtime(clock=SystemClock(), new_id=lambda: f"s{next(numbers)}")
    recorder = TraceRecorder("t", runtime=runtime)
    messenger = Messenger()
    with serve(build_reference_app(settings, card_url="http://127.0.0.1:1/")) as url:
        conversation = messenger.conversation(url, recorder=recorder)
        for text in texts:
            await conversation.send(text)
        await messenger.aclose()
    return recorder.trace().steps


@pytest.mark.parametrize(("model", "is_priced"), [("gpt-4o", True), ("tiny", False)])
async def test_each_reply_says_what_the_model_used_for_it(model, is_priced):
    scripted = ScriptedModel(lambda asked: "Hello!")
    with serve(scripted.app()) as url:
        choice = ModelChoice(name=model, base_url=f"{url}/v1", api_key=SecretStr("k"))
        steps = await steps_of(ReferenceSettings(primary=choice), "Hello", "And again, hello")
    used = [step.total_tokens for step in steps]
    assert sum(used) == 7 * len(scripted.asked) > 0
    assert [step.cost is not None for step in steps] == [is_priced] * 2


async def test_without_a_model_nothing_is_reported():
    [step] = await steps_of(ReferenceSettings(), "Hello")
    assert (step.total_tokens, step.cost) == (None, None)
