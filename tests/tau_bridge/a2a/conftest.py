import contextlib
import ssl
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import pytest
from starlette.types import ASGIApp

from tau_bridge.a2a.limits import MessengerLimits
from tau_bridge.a2a.messenger import Messenger
from tau_bridge.clock import Runtime
from tau_bridge.recorder import TraceRecorder
from tests.fakes import serve
from tests.fakes.tls import self_signed

Serving = Callable[[ASGIApp], str]

IMPATIENT = MessengerLimits(timeout_s=1.0, card_timeout_s=0.5, cancel_timeout_s=0.1)
"""For agents that never answer."""

BRISK = MessengerLimits(settle_s=0.01, poll_interval_s=0.001)
"""For agents that leave things open."""


class StepClock:
    """Goes on by a second whenever it is asked."""

    def __init__(self) -> None:
        self._ticks = count()
        self._seconds = count()

    def now(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=next(self._ticks))

    def monotonic_s(self) -> float:
        return float(next(self._seconds))


@pytest.fixture
def serving() -> Iterator[Serving]:
    """Serves an app until the test ends."""
    with contextlib.ExitStack() as stack:
        yield lambda app: stack.enter_context(serve(app))


@pytest.fixture
def recorder() -> TraceRecorder:
    ids = count(1)
    runtime = Runtime(clock=StepClock(), new_id=lambda: f"step-{next(ids)}")
    return TraceRecorder("trace", runtime=runtime)


@pytest.fixture
async def messenger() -> AsyncIterator[Messenger]:
    made = Messenger(limits=MessengerLimits(retry_wait_s=0.001))
    yield made
    await made.aclose()


@pytest.fixture
async def impatient() -> AsyncIterator[Messenger]:
    made = Messenger(limits=IMPATIENT)
    yield made
    await made.aclose()


@pytest.fixture
async def brisk() -> AsyncIterator[Messenger]:
    made = Messenger(limits=BRISK)
    yield made
    await made.aclose()


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for agents.example that vouches for itself, with its key."""
    return self_signed(tmp_path_factory.mktemp("tls") / "agent.pem", "agents.example")


@pytest.fixture
def client_tls(certificate: Path) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(certificate))
