"""The whole catalogue of behaviours, each played through the messenger over real connections."""

import asyncio
from dataclasses import replace

import pytest

from tau_bridge.a2a.limits import MessengerLimits
from tau_bridge.a2a.messenger import Messenger
from tau_bridge.errors import AgentError, AgentSilentError, AgentTimeoutError
from tau_bridge.recorder import TraceRecorder
from tests.fakes.behaviours import CATALOGUE, Behaviour

PATIENT = MessengerLimits(
    timeout_s=20.0,
    cancel_timeout_s=0.1,
    settle_s=0.01,
    poll_interval_s=0.001,
    max_events=300,
    retry_wait_s=0.001,
)
IMPATIENT = replace(PATIENT, timeout_s=1.0, card_timeout_s=0.5)
"""For agents that never come to an end."""

BOUND_S = 60.0
"""Far above what any behaviour may take on a busy machine."""


def named(behaviour: Behaviour) -> str:
    return behaviour.name.replace(" ", "-")


def test_the_catalogue_is_large_and_its_names_are_unique() -> None:
    assert len({behaviour.name for behaviour in CATALOGUE}) == len(CATALOGUE) >= 60
    assert all((one.text is None) != (one.error is None) for one in CATALOGUE)


@pytest.mark.parametrize("behaviour", CATALOGUE, ids=named)
async def test_every_behaviour_ends_in_its_text_or_its_error(
    behaviour: Behaviour, recorder: TraceRecorder
) -> None:
    endless = behaviour.error in (AgentSilentError, AgentTimeoutError)
    messenger = Messenger(limits=IMPATIENT if endless else PATIENT)
    try:
        async with asyncio.timeout(BOUND_S), behaviour.serving() as url:
            conversation = messenger.conversation(url, recorder=recorder)
            for _ in range(behaviour.messages - 1):
                await conversation.send("go on")
            if behaviour.error is None:
                assert (await conversation.send("hello")).as_text() == behaviour.text
            else:
                with pytest.raises(AgentError) as caught:
                    await conversation.send("hello")
                assert type(caught.value) is behaviour.error, str(caught.value)
                assert behaviour.words in str(caught.value)
                assert url in str(caught.value)
    finally:
        await messenger.aclose()
    steps = recorder.trace().steps
    assert len(steps) == behaviour.messages
    assert (steps[-1].error is None) == (behaviour.error is None)
    assert (steps[-1].response_text is None) == (behaviour.error is not None)
