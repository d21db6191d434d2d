"""Peers: calls from a member to the others, over A2A."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx
from a2a.client import A2ACardResolver, Client, ClientCallContext, ClientConfig, ClientFactory
from a2a.helpers import get_data_parts, get_message_text
from a2a.types import Message, Part, Role, SendMessageRequest, Task, TaskState
from a2a.utils.errors import A2AError

from purple_agent.errors import PeerFailedError
from purple_agent.teams.tracing import ACTIVATION_HEADERS, Place, steps_of

CALL_KEY = "greenroom.call"
"""Metadata key under which a call states its place in the conversation."""
CALL_TIMEOUT_S = 60.0
"""Timeout for one call, including the calls below it."""


@dataclass(frozen=True, kw_only=True)
class PeerReply:
    """A peer's answer and the steps that it reports."""

    text: str
    steps: list[Any] = field(default_factory=list)


def new_http_client() -> httpx.AsyncClient:
    """Make one client for all teams of a process. The caller closes it."""
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=100)
    return httpx.AsyncClient(timeout=CALL_TIMEOUT_S, limits=limits, trust_env=False)


class Peers:
    """The other members, as one member sees them.

    Args:
        http: The shared client, which stays open.
        homes: Each peer's own address, which steps name even if a call took another route.
    """

    def __init__(self, http: httpx.AsyncClient, homes: Mapping[str, str]) -> None:
        self._http = http
        self._homes = dict(homes)
        self._routes = dict(homes)
        self._clients: dict[str, Client] = {}
        # The version header that this factory adds to the client is the one of protocol 1.0.
        self._factory = ClientFactory(ClientConfig(streaming=False, httpx_client=http))

    def home(self, name: str) -> str:
        """Return a peer's own address."""
        return self._homes[name]

    def route(self, addresses: Mapping[str, str]) -> None:
        """Reach these peers at other addresses from now on."""
        self._routes.update(addresses)
        self._clients.clear()

    async def ask(self, callee: str, text: str, *, place: Place, context_id: str) -> PeerReply:
        """Ask a peer.

        Raises:
            PeerFailedError: There was no answer; the message says why.
        """
        request = SendMessageRequest(message=_message(text, place, context_id))
        try:
            async with asyncio.timeout(CALL_TIMEOUT_S):
                return await self._send(callee, request)
        except TimeoutError as exc:
            raise PeerFailedError(f"no answer within {CALL_TIMEOUT_S:g} s") from exc
        except (A2AError, httpx.HTTPError, ValueError) as exc:
            # The address of the route may hold a secret.
            reason = str(exc).replace(self._routes[callee], self._homes[callee])
            raise PeerFailedError(reason or type(exc).__name__) from exc

    async def _send(self, callee: str, request: SendMessageRequest) -> PeerReply:
        client = await self._client(callee)
        context = ClientCallContext(
            timeout=CALL_TIMEOUT_S, service_parameters=dict(ACTIVATION_HEADERS)
        )
        async for event in client.send_message(request, context=context):
            if event.HasField("message"):
                return _read(event.message)
            if event.HasField("task"):
                raise PeerFailedError(_complaint(event.task))
        raise PeerFailedError("neither a message nor a task came back")

    async def _client(self, callee: str) -> Client:
        client = self._clients.get(callee)
        if client is None:
            card = await A2ACardResolver(self._http, self._routes[callee]).get_agent_card()
            client = self._clients[callee] = self._factory.create(card)
        return client


def _message(text: str, place: Place, context_id: str) -> Message:
    message = Message(
        message_id=str(uuid.uuid4()),
        role=Role.ROLE_USER,
        parts=[Part(text=text)],
        context_id=context_id,
    )
    message.metadata.update({CALL_KEY: {"caller": place.caller, "step": place.step}})
    return message


def metadata_of(message: Message) -> dict[str, Any]:
    """Return a message's metadata as JSON; numbers are floats, as everywhere in A2A.

    Raises:
        ValueError: It contains a value that JSON cannot express, such as infinity.
    """
    if not message.HasField("metadata"):
        return {}
    part = Part()
    part.data.struct_value.CopyFrom(message.metadata)
    [value] = get_data_parts([part])
    return value if isinstance(value, dict) else {}


def _read(message: Message) -> PeerReply:
    return PeerReply(text=get_message_text(message), steps=steps_of(metadata_of(message)))


def _complaint(task: Task) -> str:
    said = get_message_text(task.status.message)
    return said or f"the task ended as {TaskState.Name(task.status.state)}"
