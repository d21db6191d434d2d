"""SpanReception: the receiver of spans that the runs of one process share."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

from adk_agent.core.errors import PreflightError
from tau_bridge.otlp.inbox import RunSpans, Sleep, SpanInbox
from tau_bridge.otlp.receiver import OtlpReceiver


class SpanReception:
    """Receives spans on a port while at least one run is on.

    Args:
        port: On loopback; None: nothing is received.
        grace_s: How long a trial waits for spans after its end.
        sleep: Waits.
    """

    def __init__(self, port: int | None, *, grace_s: float, sleep: Sleep = asyncio.sleep) -> None:
        self._port = port
        self._grace_s = grace_s
        self._sleep = sleep
        self._lock = asyncio.Lock()
        self._receiver: OtlpReceiver | None = None
        self._runs = 0

    @contextlib.asynccontextmanager
    async def run(self) -> AsyncIterator[RunSpans | None]:
        """Receive the spans of a run; None where nothing is received.

        Raises:
            PreflightError: The port is taken.
        """
        if self._port is None:
            yield None
            return
        receiver = await self._opened(self._port)
        try:
            async with receiver.inbox.run(grace_s=self._grace_s, sleep=self._sleep) as spans:
                yield spans
        finally:
            await self._left()

    async def _opened(self, port: int) -> OtlpReceiver:
        async with self._lock:
            if self._receiver is None:
                receiver = OtlpReceiver(SpanInbox(), port=port)
                try:
                    self._receiver = await receiver.__aenter__()
                except OSError as error:
                    raise PreflightError(
                        f"spans cannot be received on 127.0.0.1:{port}: {error.strerror or error}; "
                        "name a free port with --otlp-port, or end what listens there"
                    ) from error
            self._runs += 1
            return self._receiver

    async def _left(self) -> None:
        async with self._lock:
            self._runs -= 1
            if self._runs == 0 and self._receiver is not None:
                receiver, self._receiver = self._receiver, None
                await receiver.__aexit__(None, None, None)
