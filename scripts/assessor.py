"""Assessor: a small client of the green agent, for the scripts in this folder.

It speaks A2A 0.3 over JSON-RPC with a stream, as AgentBeats does, and needs httpx alone: so it also
shows what goes over the wire.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import httpx

CARD_PATH = "/.well-known/agent-card.json"
MAX_EVENT_CHARS = 64 * 2**20
ENDINGS = ("completed", "failed", "canceled", "rejected", "input-required", "auth-required")
_POLL_S = 0.5


class AssessorError(Exception):
    """The agent is not there, or answers with what is no A2A."""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """How a task ended.

    `state` is that of the protocol; `text` is what was said, `data` the first data part.
    """

    state: str
    text: str
    data: Mapping[str, Any] | None


class Agent:
    """An A2A agent at an address.

    Args:
        url: Its address.
        token: Sent as a bearer token where it is not empty.
        timeout_s: The longest silence within an answer.
    """

    def __init__(self, url: str, *, token: str = "", timeout_s: float = 300.0) -> None:
        self.url = url.rstrip("/") + "/"
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        # An agent that is tested on this machine is not behind the machine's proxy.
        self._http = httpx.Client(headers=headers, timeout=timeout_s, trust_env=False)

    def __enter__(self) -> Self:
        """Return the agent itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the connections."""
        self._http.close()

    def card(self) -> Mapping[str, Any]:
        """Return the agent's card.

        Raises:
            AssessorError: there is none.
        """
        try:
            response = self._http.get(self.url.rstrip("/") + CARD_PATH)
            response.raise_for_status()
            card = response.json()
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
            raise AssessorError(f"no card at {self.url}: {_told(error)}") from error
        if not isinstance(card, dict):
            raise AssessorError(f"the card at {self.url} is no JSON object")
        return card

    def wait(self, seconds: float) -> Mapping[str, Any]:
        """Return the card once it is served.

        Raises:
            AssessorError: there is none after `seconds`.
        """
        until = time.monotonic() + seconds
        while True:
            try:
                return self.card()
            except AssessorError:
                if time.monotonic() >= until:
                    raise
            time.sleep(_POLL_S)

    def say(self, text: str) -> Answer:
        """Return the agent's whole answer.

        Raises:
            AssessorError: it cannot be reached, or answers with no A2A.
        """
        try:
            response = self._http.post(self.url, json=_request("message/send", text))
            response.raise_for_status()
            return _folded([_result(response.json())])
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
            raise AssessorError(f"{self.url} does not answer: {_told(error)}") from error

    def ask(self, text: str) -> Answer:
        """How the task ends that a text asks for; its stream is followed to the end.

        Raises:
            AssessorError: it cannot be reached, or answers with no A2A.
        """
        try:
            request = _request("message/stream", text)
            with self._http.stream("POST", self.url, json=request) as response:
                if response.status_code != httpx.codes.OK:
                    response.read()
                response.raise_for_status()
                return _folded(_events(response))
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
            raise AssessorError(f"{self.url} does not answer: {_told(error)}") from error


def _request(method: str, text: str) -> dict[str, Any]:
    message = {
        "kind": "message",
        "messageId": str(uuid.uuid4()),
        "role": "user",
        "parts": [{"kind": "text", "text": text}],
    }
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"message": message}}


def _events(response: httpx.Response) -> Iterator[Mapping[str, Any]]:
    content_type = response.headers.get("content-type", "")
    if not content_type.startswith("text/event-stream"):
        response.read()
        yield _result(response.json())  # an error comes as one JSON object
        return
    for line in response.iter_lines():
        if len(line) > MAX_EVENT_CHARS:
            message = f"an event has {len(line):,} characters"
            raise ValueError(message)
        if line.startswith("data:"):
            yield _result(json.loads(line.removeprefix("data:")))


def _result(reply: Any) -> Mapping[str, Any]:
    if not isinstance(reply, dict):
        message = "the reply is no JSON object"
        raise ValueError(message)  # noqa: TRY004 - like every other reply that is no A2A
    if "error" in reply:
        message = f"error {json.dumps(reply['error'])[:400]}"
        raise ValueError(message)
    result = reply.get("result")
    if not isinstance(result, dict):
        message = "the reply has no result"
        raise ValueError(message)  # noqa: TRY004 - like every other reply that is no A2A
    return result


def _folded(events: Any) -> Answer:
    """Return the end of a task, from its events or from a single final one."""
    state, texts, data = "", [], None
    for event in events:
        if event.get("kind") == "message":
            state = "completed"
            texts += _texts(event)
        for artifact in [event.get("artifact"), *event.get("artifacts", ())]:
            texts += _texts(artifact)
            data = data if data is not None else _data(artifact)
        status = event.get("status") or {}
        state = status.get("state", state)
        if state in ENDINGS:
            texts += _texts(status.get("message"))
            break
    if not state:
        message = "the stream ended without a state"
        raise ValueError(message)
    return Answer(state=state, text="\n".join(texts), data=data)


def _parts(holder: Any) -> list[Any]:
    return list((holder or {}).get("parts") or ())


def _texts(holder: Any) -> list[str]:
    return [part["text"] for part in _parts(holder) if part.get("kind") == "text"]


def _data(holder: Any) -> Mapping[str, Any] | None:
    found = [part["data"] for part in _parts(holder) if part.get("kind") == "data"]
    return found[0] if found else None


def _told(error: Exception) -> str:
    if isinstance(error, httpx.HTTPStatusError):
        return f"HTTP status {error.response.status_code}"
    return str(error) or type(error).__name__
