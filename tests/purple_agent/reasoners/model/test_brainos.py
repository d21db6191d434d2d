"""The streaming BrainOS client against a real server on loopback, and its place before the primary."""

import asyncio
import json

import pytest
from starlette.applications import Starlette
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from purple_agent.case import BudgetLevel, Case, Dialect, Entry, Incoming, Say, Session
from purple_agent.errors import UsageError
from purple_agent.reasoners.model.brainos import BrainOs
from purple_agent.reasoners.model.completion import Completed, ProposedCall
from purple_agent.reasoners.model.errors import ModelAnswerError, ModelCallError
from purple_agent.reasoners.model.reasoner import ModelReasoner
from purple_agent.settings import ModelChoice, ReferenceSettings
from tests.fakes import closed_port, serve

ASKED = [{"role": "user", "content": "hi"}]


def event(value):
    return f"data: {value if isinstance(value, str) else json.dumps(value)}\n\n".encode()


class Endpoint:
    """Answers as it is told for each request."""

    def __init__(self):
        self.answer = None
        self.bodies = []

    async def __call__(self, request):
        self.bodies.append(await request.json())
        return self.answer()


@pytest.fixture(scope="module")
def endpoint():
    return Endpoint()


@pytest.fixture(scope="module")
def url(endpoint):
    with serve(Starlette(routes=[Route("/think", endpoint.__call__, methods=["POST"])])) as base:
        yield f"{base}/think"


def stream(*events, **more):
    async def body():
        for one in events:
            yield one

    return lambda: StreamingResponse(body(), media_type="text/event-stream", **more)


async def ask(url, **more):
    client = BrainOs(url, **more)
    try:
        return await client(ASKED, tools=[{"type": "function"}])
    finally:
        await client.aclose()


async def test_pieces_of_text_calls_and_usage_make_one_answer(endpoint, url):
    endpoint.answer = stream(
        b": a comment\n",
        event({"delta": "Let me "}),
        event({"delta": "look."})[:9],
        event({"delta": "look."})[9:],
        event({"tool_call": {"name": "get_parcel", "arguments": {"parcel_id": "P-7"}}}),
        event({"usage": {"total_tokens": 12}}),
        event("[DONE]"),
        event("ignored"),
    )
    call = ProposedCall(name="get_parcel", arguments={"parcel_id": "P-7"})
    assert await ask(url) == Completed(content="Let me look.", calls=(call,), tokens=12)
    assert endpoint.bodies[-1] == {
        "messages": ASKED,
        "tools": [{"type": "function"}],
        "stream": True,
    }


async def test_what_an_answer_cost_is_estimated_where_it_is_not_said(endpoint, url):
    endpoint.answer = stream(event({"delta": "x" * 38}), event("[DONE]"))
    assert (await ask(url)).tokens == 10


async def _never():
    yield event({"delta": "so "})
    await asyncio.Event().wait()


BAD = {
    "cut off": stream(event({"delta": "Yes, I"})),
    "no JSON": stream(event("{nonsense")),
    "no object": stream(event("[1]")),
    "deep": stream(event("[" * 100_000)),
    "no name": stream(event({"tool_call": {"arguments": {}}})),
    "a long line": stream(b"data: " + b"x" * 300_000),
    "too much": stream(*[event({"delta": "x" * 100_000})] * 12),
    "compressed": stream(event("[DONE]"), headers={"content-encoding": "gzip"}),
    "an error": stream(event({"error": "overloaded"}), event("[DONE]")),
    "a status": lambda: Response(status_code=500),
    "elsewhere": lambda: Response(status_code=307, headers={"location": "/other"}),
    "never": lambda: StreamingResponse(_never(), media_type="text/event-stream"),
}


@pytest.mark.parametrize("how", BAD)
async def test_every_way_to_fail_is_typed(endpoint, url, how):
    endpoint.answer = BAD[how]
    with pytest.raises((ModelCallError, ModelAnswerError), match="BrainOS"):
        await ask(url, timeout_s=0.3 if how == "never" else 30)


async def test_an_endpoint_that_is_not_there_is_typed():
    with closed_port() as nowhere, pytest.raises(ModelCallError):
        await ask(nowhere)


@pytest.mark.parametrize(
    "address",
    ["http://127.0.0.1:99999999", "ftp://127.0.0.1/", "nowhere", "", "http:///x"],
)
def test_an_address_that_cannot_be_one_is_refused_at_the_start(address):
    with pytest.raises(UsageError, match="http or https"):
        BrainOs(address)


class Primary:
    """Says hello."""

    async def takes_tools(self, choice):
        return True

    async def __call__(self, choice, messages, *, tools=(), retries=0):
        return Completed(content=f"Hello from {choice.name}!", tokens=7)


async def test_brainos_is_asked_first_and_the_primary_takes_over(endpoint, url):
    settings = ReferenceSettings(primary=ModelChoice(name="one"), brainos_url=url)
    reasoner = ModelReasoner(settings, Primary())
    session = Session(context_id="c", dialect=Dialect.BUSINESS)
    session.entries.append(Entry(role="user", text="hi"))
    incoming = Incoming(context_id="c", message_id="m", text="hi")
    case = Case(incoming=incoming, session=session)
    endpoint.answer = stream(event({"delta": "Hello from BrainOS!"}), event("[DONE]"))
    try:
        assert await reasoner.next(case) == Say(text="Hello from BrainOS!")
        assert reasoner.author(session) == "llm:brainos"
        small = Case(incoming=incoming, session=session, budget_level=BudgetLevel.SMALL)
        assert await reasoner.next(small) == Say(text="Hello from one!")
        endpoint.answer = BAD["cut off"]
        assert await reasoner.next(case) == Say(text="Hello from one!")
        assert reasoner.author(session) == "llm:one"
    finally:
        await reasoner.aclose()


async def test_brainos_alone_is_asked_where_a_smaller_model_is_wanted(endpoint, url):
    reasoner = ModelReasoner(ReferenceSettings(brainos_url=url), Primary())
    endpoint.answer = stream(event({"delta": "In short: yes."}), event("[DONE]"))
    try:
        assert (await reasoner.complete("What was said?"))[0] == "In short: yes."
    finally:
        await reasoner.aclose()
