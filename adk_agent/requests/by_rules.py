"""plan_by_rules: makes a plan from a request without a language model."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from adk_agent.core.errors import RequestError
from adk_agent.core.plan import EvaluationPlan, Overrides
from adk_agent.requests.planning import resolve
from adk_agent.requests.reader import Vocabulary, read_request
from adk_agent.requests.self_reference import itself_among
from tau_bridge.benchmarks import Benchmarks


def plan_by_rules(
    text: str,
    catalogue: Benchmarks,
    *,
    registered: Mapping[str, str],
    overrides: Overrides | None = None,
    own_addresses: Collection[str] = (),
) -> EvaluationPlan:
    """Read a request, resolve it to a plan, and check the plan.

    Args:
        text: A sentence, or AgentBeats JSON.
        catalogue: All benchmarks.
        registered: Addresses of registered agents, by name.
        overrides: The flags that came with the request.
        own_addresses: The addresses of this service, which may not be participants.

    Raises:
        RequestError: The request cannot be turned into a plan.
        DataError: The task data cannot be read.
    """
    request = read_request(text, registered, vocabulary=Vocabulary.of(catalogue))
    plan = resolve(request, catalogue, overrides or Overrides())
    itself = itself_among(plan, own_addresses)
    if itself is not None:
        raise RequestError(itself)
    return plan
