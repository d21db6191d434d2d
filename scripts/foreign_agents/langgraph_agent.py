"""An agent of LangGraph behind a2a-sdk 1.x.

`--memory-by-task`: keeps its memory under the task's id instead of the context's.
`--one-task`: leaves its task waiting for input, so that the conversation stays one task.
"""

import os
import sys

import uvicorn
from a2a.helpers import new_task_from_user_message
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill, Part
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import MemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from starlette.applications import Starlette

PORT = int(sys.argv[1])
BY_TASK, ONE_TASK = "--memory-by-task" in sys.argv, "--one-task" in sys.argv

model = ChatOpenAI(model="rules", base_url=os.environ["MODEL_URL"], api_key="none")


async def answer(state: MessagesState) -> MessagesState:
    """Return the model's next message; the graph's only node."""
    return {"messages": [await model.ainvoke(state["messages"])]}


builder = StateGraph(MessagesState)
builder.add_node(answer)
builder.add_edge(START, "answer")
graph = builder.compile(checkpointer=MemorySaver())


class Executor(AgentExecutor):
    """One thread of the graph for each context, or for each task."""

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Answer one message."""
        task = context.current_task
        if task is None:
            task = new_task_from_user_message(context.message)
            await event_queue.enqueue_event(task)
        updater = TaskUpdater(event_queue, task.id, task.context_id)
        await updater.start_work()
        thread = {"configurable": {"thread_id": task.id if BY_TASK else task.context_id}}
        said = {"messages": [("user", context.get_user_input())]}
        text = (await graph.ainvoke(said, thread))["messages"][-1].content
        if ONE_TASK:
            await updater.requires_input(updater.new_agent_message([Part(text=text)]))
            return
        await updater.add_artifact([Part(text=text)])
        await updater.complete()

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Answers are given at once: there is nothing to be canceled."""
        raise NotImplementedError


card = AgentCard(
    name="service",
    version="1",
    description="Serves customers.",
    capabilities=AgentCapabilities(streaming=True),
    default_input_modes=["text/plain"],
    default_output_modes=["text/plain"],
    supported_interfaces=[
        AgentInterface(
            url=f"http://127.0.0.1:{PORT}/", protocol_binding="JSONRPC", protocol_version="1.0"
        )
    ],
    skills=[AgentSkill(id="help", name="Help", description="Helps.", tags=["tau2"])],
)
handler = DefaultRequestHandler(
    agent_executor=Executor(), task_store=InMemoryTaskStore(), agent_card=card
)
app = Starlette(routes=[*create_agent_card_routes(card), *create_jsonrpc_routes(handler, "/")])
uvicorn.run(app, host="127.0.0.1", port=PORT, log_level="warning")
