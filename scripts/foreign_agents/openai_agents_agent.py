"""An agent of the OpenAI Agents SDK behind a2a-sdk 0.3, with a card that says 0.0.0.0."""

import os
import sys

import uvicorn
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.apps import A2AStarletteApplication
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentSkill, Part, TextPart
from a2a.utils import new_task
from agents import Agent, OpenAIChatCompletionsModel, Runner, SQLiteSession, set_tracing_disabled
from openai import AsyncOpenAI

PORT = int(sys.argv[1])

set_tracing_disabled(disabled=True)
client = AsyncOpenAI(base_url=os.environ["MODEL_URL"], api_key="none")
agent = Agent(
    name="service",
    instructions="You serve customers. Answer with one JSON object, as you are told.",
    model=OpenAIChatCompletionsModel("rules", client),
)
sessions: dict[str, SQLiteSession] = {}


class Executor(AgentExecutor):
    """One session in memory for each context."""

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Answer one message."""
        task = context.current_task or new_task(context.message)
        await event_queue.enqueue_event(task)
        updater = TaskUpdater(event_queue, task.id, task.context_id)
        await updater.start_work()
        session = sessions.setdefault(task.context_id, SQLiteSession(task.context_id))
        result = await Runner.run(agent, context.get_user_input(), session=session)
        await updater.add_artifact([Part(root=TextPart(text=result.final_output))])
        await updater.complete()

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Answers are given at once: there is nothing to be canceled."""
        raise NotImplementedError


card = AgentCard(
    name="service",
    version="1",
    description="Serves customers.",
    url=f"http://0.0.0.0:{PORT}/",
    capabilities=AgentCapabilities(streaming=True),
    default_input_modes=["text/plain"],
    default_output_modes=["text/plain"],
    skills=[AgentSkill(id="help", name="Help", description="Helps.", tags=["tau2"])],
)
handler = DefaultRequestHandler(agent_executor=Executor(), task_store=InMemoryTaskStore())
app = A2AStarletteApplication(agent_card=card, http_handler=handler).build()
uvicorn.run(app, host="127.0.0.1", port=PORT, log_level="warning")
