"""Embedding models through litellm, against a real server of the OpenAI wire on loopback."""

import pytest

from adk_agent.core.embeddings import LiteLlmEmbedding
from adk_agent.core.errors import ModelError, PreflightError
from adk_agent.core.model_choice import ModelChoice
from adk_agent.core.models import embedding_spec
from adk_agent.core.plan import EvaluationPlan, Participant, PlannedTasks
from adk_agent.core.settings import Settings
from adk_agent.core.spending import metered
from tests.adk_agent.served_models import KEY, configured
from tests.fakes import closed_port, serve
from tests.fakes.runtime import embedding_model

pytestmark = [
    # litellm and its aiohttp transport, as of litellm 1.106.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore:Pydantic serializer warnings:UserWarning"),
    pytest.mark.filterwarnings("ignore:Item .* on TypedDict class:UserWarning"),
]
PLAN = EvaluationPlan(
    participants=(Participant(address="builtin:null"),),
    tasks=(PlannedTasks(domain="bank", task_ids=("1",)),),
)


def letters(text):
    return [float(text.count("a")), float(text.count("b"))]


def named(url, **changes):
    return embedding_spec(configured(url, embedding_model="openai/vectors", **changes))


def test_no_model_makes_vectors_unless_one_is_named_and_none_does_offline():
    assert embedding_spec(Settings.load()) is None
    assert embedding_spec(configured("http://x")) is None
    assert named("http://x", offline=True) is None
    assert named("http://x").label == "vectors at http://x/v1"


async def test_vectors_come_in_the_order_of_the_texts_and_their_tokens_are_counted():
    with serve(embedding_model(letters)) as url:
        with metered() as meter:
            vectors = await LiteLlmEmbedding(named(url))(["a", "bb", "ab"])
        assert vectors == [[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]]
        assert meter.spent.tokens == 7


async def test_a_model_that_does_not_answer_is_named_without_the_key():
    with closed_port() as url, pytest.raises(ModelError, match="embedding model 'vectors'") as told:
        await LiteLlmEmbedding(named(url)).check()
    assert KEY not in str(told.value)
    assert "AGENTBEATS_LLM_BASE_URL" in str(told.value)


async def test_a_plan_that_needs_vectors_is_not_begun_without_a_model():
    for offline, why in ((True, "offline, none is used"), (False, "none is configured")):
        choice = ModelChoice(offline=offline)
        with pytest.raises(PreflightError, match=f"{why}: name one with --embedding-model"):
            await choice.opened(PLAN, {"embeddings"}, str)
        assert (await choice.opened(PLAN, set(), str)).embedding is None


async def test_a_model_is_asked_before_anything_is_played_and_named_in_the_results():
    steps = []
    with serve(embedding_model(letters)) as url:
        choice = ModelChoice(embedding=named(url))
        opened = await choice.opened(PLAN, {"embeddings"}, steps.append)
        assert choice.labels(PLAN, {"embeddings"})["search"] == f"vectors at {url}/v1"
    assert opened.embedding.spec.name == "vectors"
    assert steps == ["asking the model vectors whether it answers"]
    assert "search" not in choice.labels(PLAN, set())
    with serve(embedding_model(lambda text: 500)) as url, pytest.raises(PreflightError):
        await ModelChoice(embedding=named(url)).opened(PLAN, {"embeddings"}, str)
