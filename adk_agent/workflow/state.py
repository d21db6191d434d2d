"""The session state that the three agents share, by name, and how it is read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from adk_agent.core.plan import EvaluationPlan, Overrides
from adk_agent.results.digest import ReportDigest
from adk_agent.results.outcome import Problem

OVERRIDES = "overrides"
GIVEN_PLAN = "given_plan"
"""The plan of a conversation that begins with one, so that nothing is read."""
REQUEST = "request"
PLAN = "plan"
PROBLEM = "problem"
RUN_ID = "run_id"
DIGEST = "digest"
INTERPRETATION = "interpretation"
AUTHOR = "interpretation_author"
"""Who wrote the prose, where that was not the interpreter's own model."""

_OF_ONE_REQUEST = (REQUEST, PLAN, PROBLEM, RUN_ID, DIGEST, INTERPRETATION, AUTHOR)


class Writable(Protocol):
    """Session state as a callback sees it."""

    def __setitem__(self, key: str, value: Any) -> None:
        """Set a value."""
        ...

    def get(self, key: str, default: Any = None) -> Any:
        """A value."""
        ...


def begin(session: Writable, request: str) -> None:
    """Forget the request before; a session may hold several, one after the other."""
    for key in _OF_ONE_REQUEST:
        session[key] = None
    session[REQUEST] = request


def overrides(session: Writable) -> Overrides:
    """The flags that came with the request."""
    value = session.get(OVERRIDES)
    return Overrides() if value is None else Overrides.model_validate_json(value)


def plan(session: Writable | Mapping[str, Any]) -> EvaluationPlan | None:
    """The plan, None where there is none."""
    value = session.get(PLAN)
    return None if value is None else EvaluationPlan.model_validate_json(value)


def take_given_plan(session: Writable) -> EvaluationPlan | None:
    """The plan that the conversation began with, once; None where the request is to be read."""
    value = session.get(GIVEN_PLAN)
    session[GIVEN_PLAN] = None
    return None if value is None else EvaluationPlan.model_validate_json(value)


def problem(session: Writable | Mapping[str, Any]) -> Problem | None:
    """What went wrong, None if nothing did."""
    value = session.get(PROBLEM)
    return None if value is None else Problem.model_validate_json(value)


def digest(session: Writable | Mapping[str, Any]) -> ReportDigest | None:
    """The digest of the finished run, None before."""
    value = session.get(DIGEST)
    return None if value is None else ReportDigest.model_validate_json(value)
