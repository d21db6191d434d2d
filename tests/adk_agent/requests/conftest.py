"""The reader of AgentBeats JSON, with the words of the bundled benchmarks."""

from __future__ import annotations

from functools import partial

import pytest

from adk_agent.requests.agentbeats import read_agentbeats
from adk_agent.requests.language.vocabulary import Vocabulary
from tests.adk_agent.requests.records import Parse


@pytest.fixture(scope="session")
def parse(vocabulary: Vocabulary) -> Parse:
    """Reads JSON that was parsed already."""
    return partial(read_agentbeats, vocabulary=vocabulary)
