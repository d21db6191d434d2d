"""The model reasoner behind the real litellm, against scripted servers on loopback."""

import asyncio

import pytest
from pydantic import SecretStr
from starlette.applications import Starlette
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.routing import Route

from purple_agent.case import BudgetLevel, Case, Dialect, Entry, Incoming, Session, ToolResult, Use
from purple_agent.reasoners.model.completion import LiteLlmCompletion
from purple_agent.reasoners.model.errors import ModelAnswerError, ModelCallError
from purple_agent.reasoners.model.reasoner import UNAVAILABLE, ModelReasoner
from purple_agent.settings import ModelChoice, ReferenceSettings
from tests.fakes import closed_port, serve
from tests.purple_agent.reasoners.scripted_model import TOKENS, ScriptedModel, by_last, calls

KEY = "very-secret"
READ = ("get_parcel", {"parcel_id": "P-7"})
REDIRECT = ("redirect_parcel", {"parcel_id": "P-7", "address": "5 Mill Lane"})
YES = "Shall I redirect P-7 to 5 Mill Lane?"

pytestmark = [
    # litellm and its aiohttp transport, as of litellm 1.106.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore:Pydantic serializer warnings:UserWarning"),
]


def choice(url, name="tiny"):
    return ModelChoice(name=name, base_url=f"{url}/v1", api_key=SecretStr(KEY))


def parcels(asked):
    """Looks the parcel up, asks, redirects it, and says so."""
    if "It is redirected" in asked.last:
        return "Done."
    if asked.last == "yes":
        return calls(REDIRECT)
    return YES if asked.calls else calls(READ)


class World:
    """The parcels, and a session whose calls they answer."""

    def __init__(self, specs, policy, dialect=Dialect.TAU2):
        self.session = Session(context_id="c", dialect=dialect, policy_text=policy, specs=specs)
        self.redirected = 0

    async def say(self, reasoner, text, level=BudgetLevel.FULL):
        """What the agent says in the end, with every call answered on the way."""
        self.session.entries.append(Entry(role="user", text=text))
        incoming = Incoming(context_id="c", message_id="m", text=text)
        case = Case(incoming=incoming, session=self.session, budget_level=level)
        while isinstance(reply := await reasoner.next(case), Use):
            self.redirected += reply.call.name == "redirect_parcel"
            changed = reply.call.name == "redirect_parcel"
            told = "It is redirected." if changed else '{"status": "in transit"}'
            self.session.entries += [
                Entry(role="call", call=reply.call),
                Entry(role="result", call=reply.call, result=ToolResult(text=told, value=told)),
            ]
        self.session.entries.append(Entry(role="agent", text=reply.text))
        return reply.text


@pytest.fixture
def world(talk):
    """Parcels under a policy that asks for confirmation."""
    begun = talk(None).session
    return World(begun.specs, begun.policy_text)


async def test_a_task_is_solved_by_tool_calls_and_what_it_cost_is_counted(world):
    model = ScriptedModel(parcels)
    with serve(model.app()) as url:
        reasoner = ModelReasoner(ReferenceSettings(primary=choice(url)))
        assert await world.say(reasoner, "Redirect P-7 to 5 Mill Lane") == YES
        assert await world.say(reasoner, "yes") == "Done."
    assert world.redirected == 1
    assert world.session.spent_tokens == TOKENS * len(model.asked)
    first = model.asked[0].body
    assert (first["model"], first["temperature"]) == ("tiny", 0)
    names = [tool["function"]["name"] for tool in first["tools"]]
    assert names == ["get_parcel", "redirect_parcel", "transfer_to_human_agents", "think"]
    assert reasoner.author(world.session) == "llm:tiny"


async def test_a_primary_that_dies_after_a_change_is_replaced_without_a_second_change(world):
    def dies(asked):
        return 503 if "It is redirected" in asked.text else parcels(asked)

    def stubborn(asked):
        return "Done." if "already carried out" in asked.notes else calls(REDIRECT)

    first, second = ScriptedModel(dies), ScriptedModel(stubborn)
    with serve(first.app()) as one, serve(second.app()) as two:
        settings = ReferenceSettings(primary=choice(one), fallback=choice(two, "spare"))
        reasoner = ModelReasoner(settings)
        await world.say(reasoner, "Redirect P-7 to 5 Mill Lane")
        assert await world.say(reasoner, "yes") == "Done."
    assert world.redirected == 1
    assert reasoner.author(world.session) == "llm:spare"
    assert second.asked[0].calls == [READ, REDIRECT]


async def test_a_primary_that_is_not_there_is_replaced_by_the_fallback(world):
    with closed_port() as nowhere, serve(ScriptedModel(lambda asked: "Hello!").app()) as url:
        settings = ReferenceSettings(primary=choice(nowhere), fallback=choice(url, "spare"))
        reasoner = ModelReasoner(settings)
        assert await world.say(reasoner, "hi") == "Hello!"
    assert reasoner.author(world.session) == "llm:spare"


async def test_a_server_that_refuses_tools_is_talked_to_in_json(world):
    lines = [
        ("Where", '```json\n{"name": "get_parcel", "arguments": {"parcel_id": "P-7"}}\n```'),
        ("in transit", 'I see. {"name": "respond", "arguments": {"content": "On its way."}}'),
    ]
    answer = by_last(lines, otherwise="?")
    model = ScriptedModel(lambda asked: 400 if asked.body.get("tools") else answer(asked))
    with serve(model.app()) as url:
        reasoner = ModelReasoner(ReferenceSettings(primary=choice(url)))
        assert await world.say(reasoner, "Where is P-7?") == "On its way."


async def test_small_means_and_summaries_go_to_the_small_model(world):
    model = ScriptedModel(lambda asked: asked.model)
    with serve(model.app()) as url:
        settings = ReferenceSettings(primary=choice(url), small=choice(url, "mini"))
        reasoner = ModelReasoner(settings)
        assert await world.say(reasoner, "hi", BudgetLevel.SMALL) == "mini"
        assert await world.say(reasoner, "hi") == "tiny"
        assert await reasoner.complete("Sum up.") == ("mini", TOKENS)


async def test_malformed_arguments_from_the_wire_are_repaired_by_asking_once_more(world):
    def script(asked):
        if "on" in asked.last.split():
            return calls(READ if "no JSON object" in asked.notes else ("get_parcel", '{"par'))
        return "On its way."

    with serve(ScriptedModel(script).app()) as url:
        reasoner = ModelReasoner(ReferenceSettings(primary=choice(url)))
        assert await world.say(reasoner, "What is on with P-7?") == "On its way."


async def test_every_way_to_fail_is_typed_and_none_shows_the_key(world):
    hanging = asyncio.Event()

    async def hang(request):
        await hanging.wait()

    async def empty(request):
        return JSONResponse({"choices": []})

    async def page(request):
        return PlainTextResponse("<html>")

    for answer in (hang, empty, page):
        app = Starlette(routes=[Route("/v1/chat/completions", answer, methods=["POST"])])
        with serve(app) as url:
            completion = LiteLlmCompletion(timeout_s=0.3)
            with pytest.raises((ModelCallError, ModelAnswerError), match="'tiny'") as caught:
                await completion(choice(url), [{"role": "user", "content": "hi"}])
            assert KEY not in str(caught.value)
    for status in (401, 404, 429, 500):
        with serve(ScriptedModel(lambda asked, status=status: status).app()) as url:
            reasoner = ModelReasoner(
                ReferenceSettings(primary=choice(url), fallback=choice(url, "spare")),
                LiteLlmCompletion(sleep=_at_once),
            )
            assert await world.say(reasoner, "hi") == UNAVAILABLE


async def _at_once(seconds):
    """Does not wait between attempts."""


@pytest.mark.parametrize(("status", "attempts"), [(503, 3), (429, 3), (401, 1), (404, 1)])
async def test_only_what_may_pass_is_tried_again(status, attempts):
    model, waited = ScriptedModel(lambda asked: status), []

    async def sleep(seconds):
        waited.append(seconds)

    completion, asked = LiteLlmCompletion(sleep=sleep), [{"role": "user", "content": "hi"}]
    with serve(model.app()) as url, pytest.raises(ModelCallError):
        await completion(choice(url), asked, retries=2)
    assert len(model.asked) == attempts
    assert waited == [0.5, 1.0][: attempts - 1]


async def test_names_that_providers_refuse_are_told_and_taken_in_another_form(world, talk):
    from dataclasses import replace

    odd = replace(world.session.specs[0], name="parcel/get it")
    world.session.specs = (odd,)
    script = by_last([("Where", calls(("parcel_get_it", {"parcel_id": "P-7"})))], otherwise="Here.")
    with serve(ScriptedModel(script).app()) as url:
        reasoner = ModelReasoner(ReferenceSettings(primary=choice(url)))
        assert await world.say(reasoner, "Where is P-7?") == "Here."
    made = [entry.call.name for entry in world.session.entries if entry.role == "call"]
    assert made == ["parcel/get it"]


async def test_text_that_no_request_can_carry_does_not_stop_the_agent(world):
    with serve(ScriptedModel(lambda asked: asked.last).app()) as url:
        reasoner = ModelReasoner(ReferenceSettings(primary=choice(url)))
        assert await world.say(reasoner, "hi \ud800 there ü") == "hi ? there ü"


async def test_what_litellm_knows_of_a_model_decides_on_tools():
    completion = LiteLlmCompletion()
    assert await completion.takes_tools(ModelChoice(name="gpt-4o-mini"))
    assert not await completion.takes_tools(ModelChoice(name="gpt-3.5-turbo-instruct"))
    assert await completion.takes_tools(ModelChoice(name="mine", base_url="http://127.0.0.1:1"))
