"""Transport: carries the calls to one agent.

| the card's interface | the agent | carried by |
|---|---|---|
| JSONRPC, HTTP+JSON | at an address | a2a-sdk's client over `GuardedTransport(PooledTransport)` |
| JSONRPC, HTTP+JSON | an application in this process | the same over `GuardedTransport(AsgiTransport)` |
| GRPC | at an address | `GrpcTransport`, with the extra `grpc` |

Which interface is called is the card's choice, as far as it can be called (see `cards`). Whether the
agent is in this process is up to the owner of the messenger.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Protocol

from a2a.client import ClientConfig, ClientFactory

from tau_bridge.a2a.cards import GRPC, HTTP_BINDINGS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    import httpx
    from a2a.client import ClientCallContext
    from a2a.types import (
        AgentCard,
        CancelTaskRequest,
        GetTaskRequest,
        SendMessageRequest,
        StreamResponse,
        Task,
    )


class Transport(Protocol):
    """Carries the calls to one agent. a2a-sdk's own clients do.

    Each call belongs to the current `Exchange`: its answer may not be longer than that allows. What
    a call raises is what `faults.agent_error` knows.
    """

    def send_message(
        self, request: SendMessageRequest, *, context: ClientCallContext | None = None
    ) -> AsyncIterator[StreamResponse]:
        """Send a message; yields the events of the answer."""

    async def get_task(
        self, request: GetTaskRequest, *, context: ClientCallContext | None = None
    ) -> Task:
        """Return the task as it stands now."""

    async def cancel_task(
        self, request: CancelTaskRequest, *, context: ClientCallContext | None = None
    ) -> Task:
        """Ask for a task to be canceled."""

    async def close(self) -> None:
        """Close what the transport itself has opened."""


def unspoken(*, in_process: bool) -> Mapping[str, str]:
    """Say why some bindings of A2A cannot be used here, by their names.

    Args:
        in_process: Whether the agent is an application in this process.
    """
    if in_process:
        return {GRPC: "needs a port, which an agent in this process does not have"}
    if find_spec("grpc") is None:
        return {GRPC: "needs the extra grpc: pip install 'greenroom[grpc]'"}
    return {}


def over_http(card: AgentCard, http: httpx.AsyncClient) -> Transport:
    """Return the transport for the one interface that `card` names, by JSON-RPC or HTTP+JSON."""
    config = ClientConfig(httpx_client=http, supported_protocol_bindings=list(HTTP_BINDINGS))
    return ClientFactory(config).create(card)
