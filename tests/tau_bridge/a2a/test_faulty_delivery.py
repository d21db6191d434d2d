"""Faults on the way to an agent: what it gets, and what we read."""

import pytest

from purple_agent.handler import MessageHandler
from tau_bridge.a2a.messenger import Messenger
from tau_bridge.chaos.injector import DELAY_S, INJECTED, Injector

pytestmark = pytest.mark.requirement("test:chaos")
URL = "http://agent.test"


class Counting:
    """Answers with the number of the delivery, and keeps the message ids."""

    def __init__(self):
        self.ids, self.contexts = [], []

    def reply(self, turn):
        self.ids.append(turn.message_id)
        self.contexts.append(turn.context_id)
        return f"reply {len(self.ids)}"


async def heard(recorder, kind, *texts):
    """Send texts that all meet a fault; return what the agent got, and the replies."""
    from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
    from starlette.applications import Starlette

    from purple_agent.server import build_card

    agent, waits = Counting(), []

    async def sleep(seconds):
        waits.append(seconds)

    app = Starlette(
        routes=[
            *create_agent_card_routes(build_card("null", card_url=f"{URL}/")),
            *create_jsonrpc_routes(MessageHandler(agent), "/", enable_v0_3_compat=True),
        ]
    )
    messenger = Messenger(apps={URL: app}, sleep=sleep)
    injector = Injector("shop/1", seed=1, rates={kind: 1.0})
    conversation = messenger.conversation(URL, recorder=recorder, faults=injector)
    replies = [(await conversation.send(text)).text for text in texts]
    await messenger.aclose()
    assert [fault.kind for fault in injector.faults] == [kind] * len(texts)
    steps = recorder.trace().steps
    assert [step.additional_attributes[INJECTED] for step in steps] == [kind] * len(texts)
    return agent, replies, waits, steps


async def test_after_a_lost_reply_the_same_message_comes_again_and_its_reply_counts(recorder):
    agent, replies, _, steps = await heard(recorder, "lost_reply", "one", "two")
    assert replies == ["reply 2", "reply 4"]
    first, again, second, _ = agent.ids
    assert first == again != second
    # The context of a reply that was lost is not known; that of the one which came is kept.
    assert agent.contexts[2] == agent.contexts[3] == agent.contexts[1] != agent.contexts[0]
    assert steps[0].additional_attributes["dropped_reply"] == "reply 1"


async def test_a_duplicate_comes_after_the_reply_that_counts(recorder):
    agent, replies, _, steps = await heard(recorder, "duplicate", "one", "two")
    assert replies == ["reply 1", "reply 3"]
    assert agent.ids[0] == agent.ids[1] != agent.ids[2]
    assert agent.contexts[0] == agent.contexts[2]
    assert steps[1].additional_attributes["dropped_reply"] == "reply 4"


async def test_a_busy_server_is_asked_again_and_the_agent_gets_one_message(recorder):
    agent, replies, waits, steps = await heard(recorder, "busy", "one")
    assert (replies, len(agent.ids), waits) == (["reply 1"], 1, [0.0])
    assert steps[0].additional_attributes["retries"] == "1"


async def test_a_delayed_message_comes_once(recorder):
    agent, replies, waits, _ = await heard(recorder, "delay", "one")
    assert (replies, len(agent.ids), waits) == (["reply 1"], 1, [DELAY_S])
