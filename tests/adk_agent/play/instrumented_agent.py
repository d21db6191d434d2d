"""An a2a-sdk agent that OpenTelemetry instruments; it knows nothing of the assessor.

Started as a program: instrumented_agent.py PORT. Where its spans go, its environment says.
"""

import sys

import uvicorn
from a2a.helpers import new_text_message
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill
from opentelemetry import propagate, trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from starlette.applications import Starlette

PORT = int(sys.argv[1])
provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
trace.set_tracer_provider(provider)
tracer = trace.get_tracer("shop")


def invoke(name, question, *, answer, inside=()):
    """Stand for an agent of the team, below whatever span is open."""
    attributes = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": name,
        "input.value": question,
    }
    with tracer.start_as_current_span(f"invoke_agent {name}", attributes=attributes) as span:
        for step in inside:
            step()
        span.set_attribute("output.value", answer)
        return answer


def look_up():
    attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "find_order",
        "gen_ai.tool.call.arguments": '{"order": "7"}',
        "gen_ai.tool.call.result": "shipped",
    }
    with tracer.start_as_current_span("execute_tool find_order", attributes=attributes):
        pass


class Executor(AgentExecutor):
    async def execute(self, context, event_queue):
        asked = context.get_user_input()
        carrier = context.call_context.state.get("headers", {})
        with tracer.start_as_current_span("POST /", context=propagate.extract(carrier)):
            answer = invoke(
                "lead",
                asked,
                answer="Orders ship in two days.",
                inside=(
                    lambda: invoke("orders", "Where is 7?", answer="shipped", inside=[look_up]),
                    lambda: invoke("policy", "How long?", answer="two days"),
                ),
            )
        reply = new_text_message(answer, context_id=context.context_id)
        await event_queue.enqueue_event(reply)

    async def cancel(self, context, event_queue):
        raise NotImplementedError


card = AgentCard(
    name="Shop",
    version="1",
    description="A lead and two specialists.",
    capabilities=AgentCapabilities(),
    default_input_modes=["text/plain"],
    default_output_modes=["text/plain"],
    supported_interfaces=[
        AgentInterface(
            url=f"http://127.0.0.1:{PORT}/", protocol_binding="JSONRPC", protocol_version="1.0"
        )
    ],
    skills=[AgentSkill(id="help", name="Help", description="Answers.", tags=["shop"])],
)
handler = DefaultRequestHandler(
    agent_executor=Executor(), task_store=InMemoryTaskStore(), agent_card=card
)
app = Starlette(routes=[*create_agent_card_routes(card), *create_jsonrpc_routes(handler, "/")])

if __name__ == "__main__":
    uvicorn.run(app, port=PORT, log_level="warning")
