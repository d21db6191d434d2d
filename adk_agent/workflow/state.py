"""The session state that the three agents share: its keys and accessors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel

from adk_agent.conversation.outcome import Problem
from adk_agent.core.plan import EvaluationPlan, Overrides
from adk_agent.results.digest import ReportDigest

M = TypeVar("M", bound=BaseModel)
OVERRIDES = "overrides"
GIVEN_PLAN = "given_plan"
"""The plan of a conversation that starts with one instead of a request."""
REQUEST = "request"
PLAN = "plan"
PROBLEM = "problem"
RUN_ID = "run_id"
DIGEST = "digest"
INTERPRETATION = "interpretation"
AUTHOR = "interpretation_author"
"""The author of the prose, if it was not the interpreter's model."""

_OF_ONE_REQUEST = (REQUEST, PLAN, PROBLEM, RUN_ID, DIGEST, INTERPRETATION, AUTHOR)


class Writable(Protocol):
    """Session state as a callback sees it."""

    def __setitem__(self, key: str, value: Any) -> None:
        """Set a value."""
        ...

    def get(self, key: str, default: Any = None) -> Any:
        """Return a value."""
        ...


Readable = Writable | Mapping[str, Any]


def begin(session: Writable, request: str) -> None:
    """Clear the state of the previous request, since a session may have several in turn."""
    for key in _OF_ONE_REQUEST:
        session[key] = None
    session[REQUEST] = request


def overrides(session: Writable) -> Overrides:
    """Return the flags that came with the request."""
    return _parsed(session, OVERRIDES, Overrides) or Overrides()


def plan(session: Readable) -> EvaluationPlan | None:
    """Return the plan, or None."""
    return _parsed(session, PLAN, EvaluationPlan)


def take_given_plan(session: Writable) -> EvaluationPlan | None:
    """Take the plan that the conversation started with; None if the request is to be read."""
    given = _parsed(session, GIVEN_PLAN, EvaluationPlan)
    session[GIVEN_PLAN] = None
    return given


def problem(session: Readable) -> Problem | None:
    """Return the problem, or None."""
    return _parsed(session, PROBLEM, Problem)


def digest(session: Readable) -> ReportDigest | None:
    """Return the digest of the finished run, or None."""
    return _parsed(session, DIGEST, ReportDigest)


def _parsed(session: Readable, key: str, kind: type[M]) -> M | None:
    value = session.get(key)
    return None if value is None else kind.model_validate_json(value)
