"""Searching documents by vectors, with a model that is a function."""

import anyio
import pytest

from evals.trace import CallType
from tau_bridge.clock import Runtime
from tau_bridge.embedding import EmbeddingModel
from tau_bridge.errors import EmbeddingError, HarnessError
from tau_bridge.messages import AssistantMessage, ToolCall, UserMessage
from tau_bridge.recorder import TraceRecorder
from tau_bridge.tau2.domains import load_domain
from tau_bridge.tau2.embedding_search import EmbeddingSearch
from tau_bridge.tau2.loop import ConversationLimits, converse
from tau_bridge.tau2.replay import new_world
from tau_bridge.wire_agent import AgentTurn
from tests.tau_bridge.tau2.asking import task

TEXTS = ["aaa", "ab", "b"]


def model(make=lambda text: [text.count("a"), text.count("b")], name="letters"):
    asked = []

    async def embed(texts):
        asked.append(list(texts))
        return [make(text) for text in texts]

    return EmbeddingModel(name=name, embed=embed), asked


async def top(search, query, of):
    return await anyio.to_thread.run_sync(search.top, query, 3, of)


async def test_the_nearest_come_first_and_length_does_not_count():
    letters, _ = model()
    found = await top(EmbeddingSearch(TEXTS), "aaaaaa", letters)
    assert [place for place, _ in found] == [0, 1, 2]
    assert [round(cosine, 4) for _, cosine in found] == [1.0, 0.7071, 0.0]


async def test_vectors_of_documents_are_made_once_for_each_model():
    search, (letters, asked), (others, also_asked) = (
        EmbeddingSearch(TEXTS),
        model(),
        model(name="x"),
    )
    for _ in range(2):
        await top(search, "a", letters)
    await top(search, "a", others)
    assert asked == [["a"], TEXTS, ["a"]]
    assert also_asked == [["a"], TEXTS]


async def test_concurrent_first_queries_pay_once():
    search, (letters, asked) = EmbeddingSearch(TEXTS), model()
    async with anyio.create_task_group() as group:
        for _ in range(5):
            group.start_soon(top, search, "a", letters)
    assert asked.count(TEXTS) == 1


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda text: 1 / 0, "'letters' failed: ZeroDivisionError"),
        (lambda text: [], r"vectors of \[0\] numbers"),
        (lambda text: [1.0] * len(text), r"vectors of \[1, 2, 3\] numbers"),
    ],
)
async def test_a_model_that_breaks_is_named(make, said):
    broken, _ = model(make)
    with pytest.raises(EmbeddingError, match=said) as raised:
        await top(EmbeddingSearch(TEXTS), "a", broken)
    assert raised.value.fault == "infrastructure"


class Searching:
    """An agent that searches once and then talks."""

    address = "searching"

    def __init__(self):
        call = ToolCall(id="c1", name="KB_search", arguments={"query": "fees"})
        self._turns = [
            AssistantMessage(tool_calls=(call,)),
            AssistantMessage(content="It depends."),
        ]

    async def reply(self, incoming):
        return AgentTurn(message=self._turns.pop(0))


class Leaving:
    label = "leaving"
    step_id = None

    def __init__(self):
        self._words = ["What are the fees?", "###STOP###"]

    async def reply(self, incoming):
        return UserMessage(content=self._words.pop(0))


async def played(package_source, embedding):
    bank = load_domain(package_source, "banking_knowledge", "embeddings_grep")
    recorder = TraceRecorder("t", runtime=Runtime.system())
    conversation = await converse(
        task=task(),
        world=new_world(bank, task(), embedding_model=embedding),
        agent=Searching(),
        user=Leaving(),
        limits=ConversationLimits(),
        recorder=recorder,
    )
    return conversation, recorder.trace()


async def test_an_agent_reads_what_is_nearest(package_source):
    letters, _ = model(lambda text: [text.lower().count(each) + 1.0 for each in "aefs"])
    conversation, _ = await played(package_source, letters)
    assert conversation.termination == "user_stop"
    [result] = [each for each in conversation.messages if each.role == "tool"]
    assert result.content.count("   Score: ") == 10


async def test_a_fault_of_the_model_is_never_the_agents(package_source):
    def broken(text):
        raise OSError("the line is dead")

    conversation, trace = await played(package_source, model(broken)[0])
    assert conversation.termination == "infrastructure_error"
    assert conversation.error.fault == "infrastructure"
    [step] = trace.of_type(CallType.TOOL)
    assert "the line is dead" in step.error


async def test_without_a_model_the_fault_is_ours(package_source):
    conversation, _ = await played(package_source, None)
    assert isinstance(conversation.error, HarnessError)
