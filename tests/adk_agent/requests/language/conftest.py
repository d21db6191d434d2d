"""The reader of evaluations, with the tasks of the bundled benchmarks."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from adk_agent.requests.find_tasks import TaskSearch
from adk_agent.requests.intent import Evaluate
from adk_agent.requests.language.sentence import read_sentence
from adk_agent.requests.language.vocabulary import Vocabulary
from tau_bridge.benchmarks import Benchmarks

ReadSentence = Callable[..., Evaluate]
REGISTERED = {"shop-bot": "http://127.0.0.1:7001", "helpdesk": "https://helpdesk.example/a2a"}


@pytest.fixture(scope="session")
def read_evaluation(benchmarks: Benchmarks) -> ReadSentence:
    """Read a sentence; two agents are registered."""
    search, vocabulary = TaskSearch(benchmarks), Vocabulary.of(benchmarks)

    def read(text: str, registered: Mapping[str, str] = REGISTERED) -> Evaluate:
        return read_sentence(
            text, registered=registered, vocabulary=vocabulary, is_topic=search.is_topic
        )

    return read
