"""AgentBeats JSON for tests, and reading it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from adk_agent.core.plan import EvaluationRequest
from adk_agent.requests.refusal import Refusal

ADDRESS = "http://127.0.0.1:8080/agent/"


def record(**config: Any) -> dict[str, Any]:
    return {"participants": {"agent": ADDRESS}, "config": {"domain": "airline", **config}}


Parse = Callable[[Any], EvaluationRequest]


def refused(parse: Parse, value: Any) -> Refusal:
    with pytest.raises(Refusal) as caught:
        parse(value)
    return caught.value
