"""ResponseTraces in updates of a task's status: all reach a client that streams, the last another."""

import contextlib
from collections.abc import AsyncIterator

import pytest
from a2a.helpers import new_text_message
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import Task, TaskState, TaskStatus
from starlette.applications import Starlette

from tau_bridge.a2a.extensions import TRACEABILITY_KEY
from tau_bridge.a2a.messenger import Messenger
from tau_bridge.a2a.traceability import find_response_traces
from tau_bridge.recorder import TraceRecorder
from tests.fakes.agents import card_for, card_route

URL = "http://team.test"


def trace_of(step_id: str) -> dict[str, object]:
    return {"steps": [{"step_id": step_id, "call_type": "AGENT", "name": "planner"}]}


class _ReportsByUpdates(AgentExecutor):
    """Reports each call as soon as it was made, in the metadata of an update."""

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        assert context.task_id is not None
        assert context.context_id is not None
        status = TaskStatus(state=TaskState.TASK_STATE_SUBMITTED)
        task = Task(id=context.task_id, context_id=context.context_id, status=status)
        await event_queue.enqueue_event(task)
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)
        for step_id in ("1", "2"):
            metadata = {TRACEABILITY_KEY: trace_of(step_id)}
            await updater.update_status(TaskState.TASK_STATE_WORKING, metadata=metadata)
        await updater.complete(new_text_message("done", context_id=context.context_id))

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        raise NotImplementedError


def team(*, streaming: bool) -> Starlette:
    handler = DefaultRequestHandler(
        agent_executor=_ReportsByUpdates(),
        task_store=InMemoryTaskStore(),
        agent_card=card_for(f"{URL}/", streaming=streaming),
    )

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        await handler.aclose()

    routes = [card_route(streaming=streaming), *create_jsonrpc_routes(handler, "/")]
    return Starlette(routes=routes, lifespan=lifespan)


@pytest.mark.parametrize(("streaming", "found"), [(True, ["1", "2"]), (False, ["2"])])
async def test_a_server_that_does_not_stream_shows_the_trace_of_the_last_update_alone(
    recorder: TraceRecorder, streaming: bool, found: list[str]
) -> None:
    app = team(streaming=streaming)
    messenger = Messenger(apps={URL: app})
    async with app.router.lifespan_context(app):
        reply = await messenger.conversation(URL, recorder=recorder).send("hello")
        await messenger.aclose()
    assert reply.text == "done"
    traces = find_response_traces(reply)
    assert [step["step_id"] for trace in traces for step in trace["steps"]] == found
