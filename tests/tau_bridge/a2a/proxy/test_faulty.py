"""Faults between members: what caller and callee get, and what the trace says of it."""

import pytest

from tau_bridge.a2a.proxy import ObservingProxy
from tau_bridge.chaos.injector import INJECTED, Injector
from tests.fakes import scripted_agent
from tests.tau_bridge.a2a.proxy.calls import NOWHERE, ask, only_step, post

pytestmark = pytest.mark.requirement("test:chaos")


@pytest.fixture
def between(serving, recorder):
    """Sends messages from one member to another under a fault; returns what each got."""

    async def send(kind, *texts, sender=ask, rate=1.0, **options):
        got = []

        def answer(text, context_id):
            got.append(text)
            return f"reply {len(got)}"

        url = serving(scripted_agent(answer, **options))
        faults = Injector("shop/1", seed=1, rates={kind: rate})
        async with ObservingProxy({"front": NOWHERE, "clerk": url}) as proxy:
            address = proxy.url_for("front", "clerk")
            with proxy.recording(recorder, faults=faults):
                replies = [await sender(address, text) for text in texts]
        return got, replies, faults.faults

    return send


async def test_a_busy_member_gets_the_message_when_it_is_sent_again(between, recorder):
    got, replies, faults = await between("member_busy", "one")
    assert (got, [each.text for each in replies]) == (["one"], ["reply 1"])
    assert [(each.kind, each.place, each.detail) for each in faults] == [
        ("member_busy", 1, "front to clerk")
    ]
    turned_away, answered = recorder.trace().steps
    assert turned_away.error == "injected: 503, the agent is busy; send the message again"
    assert turned_away.additional_attributes[INJECTED] == "member_busy"
    assert (answered.error, answered.response_text) == (None, "reply 1")


@pytest.mark.parametrize("streaming", [True, False])
async def test_a_lost_reply_is_in_the_trace_and_the_caller_is_answered_504(
    between, recorder, streaming
):
    async def once(address, _):
        return await post(address)

    got, [answer], _ = await between("member_lost_reply", "one", sender=once, streaming=streaming)
    assert (got, answer.status_code) == (["hi"], 504)
    step = only_step(recorder)
    assert step.error == "injected: 504, the agent's reply was lost; send the message again"
    assert step.additional_attributes["dropped_reply"] == "reply 1"


@pytest.mark.parametrize("streaming", [True, False])
async def test_a_duplicate_is_delivered_twice_and_its_first_reply_counts(
    between, recorder, streaming
):
    got, replies, _ = await between("member_duplicate", "one", streaming=streaming)
    assert (got, [each.text for each in replies]) == (["one", "one"], ["reply 1"])
    step = only_step(recorder)
    assert (step.response_text, step.additional_attributes["dropped_reply"]) == (
        "reply 1",
        "reply 2",
    )


async def test_the_faults_of_a_pair_do_not_depend_on_what_other_pairs_say():
    def drawn(*before):
        faults = Injector("shop/1", seed=1, rates={"member_duplicate": 0.5})
        for pair in before:
            faults.next_between(*pair)
        return [faults.next_between("front", "clerk") for _ in range(30)]

    assert drawn() == drawn(("clerk", "front"), ("front", "judge"))
    assert set(drawn()) == {None, "member_duplicate"}


async def test_without_faults_nothing_is_injected(between, recorder):
    got, _, faults = await between("member_busy", "one", rate=0.0)
    assert (got, faults) == (["one"], [])
    assert INJECTED not in only_step(recorder).additional_attributes
