"""Behaviour: one way in which agents answer, and what must come of it."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from starlette.types import ASGIApp

from tau_bridge.errors import AgentError
from tests.fakes.hostile import says, sse
from tests.fakes.raw import RawAgent, serve_raw
from tests.fakes.serving import serve

Agent: TypeAlias = "ASGIApp | RawAgent"


@dataclass(frozen=True, kw_only=True)
class Behaviour:
    """One row of the catalogue.

    Either `text` or `error` is set: the reply to the last of `messages` messages as one text, or
    the class of the error that it ends in; `words` then stand in the error's message.
    """

    name: str
    agent: Callable[[], Agent]
    text: str | None = None
    error: type[AgentError] | None = None
    words: str = ""
    messages: int = 1

    @contextlib.asynccontextmanager
    async def serving(self) -> AsyncIterator[str]:
        """Serve a new agent of this behaviour; yields its base address."""
        agent = self.agent()
        if isinstance(agent, RawAgent):
            async with serve_raw(agent) as url:
                yield url
        else:
            with serve(agent) as url:
                yield url


def answers(name: str, agent: Callable[[], Agent], text: str, *, messages: int = 1) -> Behaviour:
    """A behaviour after which there is a reply."""
    return Behaviour(name=name, agent=agent, text=text, messages=messages)


def breaks(
    name: str, agent: Callable[[], Agent], error: type[AgentError], words: str = ""
) -> Behaviour:
    """A behaviour after which there is none."""
    return Behaviour(name=name, agent=agent, error=error, words=words)


def streams(*results: dict[str, Any]) -> Callable[[], Agent]:
    """Answers every message with a stream of these results."""
    return streams_bytes(b"".join(map(sse, results)))


def streams_bytes(body: bytes) -> Callable[[], Agent]:
    """Answers every message with this event stream."""
    return lambda: says(body)


def message(text: str = "hi", **fields: Any) -> dict[str, Any]:
    """A bare message of the agent, as a result."""
    return {
        "message": {
            "messageId": "m",
            "contextId": "context-1",
            "role": "ROLE_AGENT",
            "parts": [{"text": text}],
            **fields,
        }
    }


def status(state: str, text: str | None = None, **fields: Any) -> dict[str, Any]:
    """A status update of the task that `task_event` begins; `state` as in `WORKING`."""
    said = {} if text is None else message(text)
    update = {"taskId": "task-1", "contextId": "context-1", **fields}
    return {"statusUpdate": {**update, "status": {"state": f"TASK_STATE_{state}", **said}}}


def artifact(text: str, artifact_id: str = "a", **fields: Any) -> dict[str, Any]:
    """An artifact update of the same task."""
    held = {"artifactId": artifact_id, "parts": [{"text": text}]}
    update = {"taskId": "task-1", "contextId": "context-1", **fields}
    return {"artifactUpdate": {**update, "artifact": held}}
