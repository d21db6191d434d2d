import pytest

from tau_bridge.a2a.limits import MessengerLimits
from tau_bridge.a2a.messenger import Messenger
from tau_bridge.isolation.probing import probe_isolation
from tau_bridge.recorder import TraceRecorder
from tests.fakes.runtime import manual_runtime

URL = "http://agent.test"


@pytest.fixture
def probe():
    """Probes an agent that is an application in this process."""

    async def probe(app, *, seed=300, **ways):
        messenger = Messenger(apps={URL: app}, limits=MessengerLimits(retry_wait_s=0.001))

        def converse(number):
            recorder = TraceRecorder(f"probe-{number}", runtime=manual_runtime())
            return messenger.conversation(URL, recorder=recorder)

        try:
            return await probe_isolation(converse, address=URL, seed=seed, **ways)
        finally:
            await messenger.aclose()

    return probe
