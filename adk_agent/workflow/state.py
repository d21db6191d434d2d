"""The session state that the three agents share: its keys and accessors.

It holds JSON, since ADK may keep sessions in a database. What belongs to the conversation (the
messages so far, its runs, the open question) stays from turn to turn; the rest is of one turn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel, TypeAdapter

from adk_agent.conversation.outcome import Problem
from adk_agent.conversation.replies import Answer, Asked, CancelRuns, Play, Reading, Refused, Reply
from adk_agent.core.plan import EvaluationPlan, Overrides
from adk_agent.requests.intent import Question, Situation
from adk_agent.results.digest import ReportDigest

M = TypeVar("M", bound=BaseModel)
OVERRIDES = "overrides"
GIVEN_PLAN = "given_plan"
"""The plan of a conversation that starts with one instead of a request."""
GIVEN_READING = "given_reading"
"""The reading of the one who started the conversation, made already."""
RESUMED = "resumed_run_id"
"""The run to resume. The given plan is that run's."""
OWN_ADDRESSES = "own_addresses"
CONFIRMED = "confirmed"
"""True if whatever the message asks for was agreed to."""
HEARD = "heard"
RUN_IDS = "run_ids"
QUESTION = "question"
"""The question that is open."""
PREPARING = "preparing"

REQUEST = "request"
READING = "reading"
REPLY = "reply"
PLAN = "plan"
PROBLEM = "problem"
RUN_ID = "run_id"
DIGEST = "digest"
INTERPRETATION = "interpretation"
AUTHOR = "interpretation_author"
"""The author of the prose, if it was not the interpreter's model."""

_OF_ONE_TURN = (REQUEST, READING, REPLY, PLAN, PROBLEM, RUN_ID, DIGEST, INTERPRETATION, AUTHOR)
MOST_HEARD = 30
"""Most earlier messages that a conversation remembers."""
_MOST_RUNS = 50
_READINGS = TypeAdapter(Reading)
_REPLIES: dict[str, TypeAdapter[Any]] = {
    kind.__name__: TypeAdapter(kind) for kind in (Answer, Asked, CancelRuns, Play, Refused)
}


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
    """Clear the state of the previous turn, and remember its message as heard."""
    before = session.get(REQUEST)
    if before:
        session[HEARD] = [*(session.get(HEARD) or ()), before][-MOST_HEARD:]
    for key in _OF_ONE_TURN:
        session[key] = None
    session[REQUEST] = request


def values_of(situation: Situation) -> dict[str, Any]:
    """Return the values with which a session of a conversation starts."""
    question = situation.question
    return {
        HEARD: list(situation.heard),
        RUN_IDS: list(situation.run_ids),
        QUESTION: None if question is None else question.model_dump_json(),
        PREPARING: situation.preparing,
        OWN_ADDRESSES: sorted(situation.own_addresses),
    }


def situation(session: Readable, registered: Mapping[str, str]) -> Situation:
    """Return the conversation that the latest message is part of."""
    return Situation(
        registered=registered,
        heard=tuple(session.get(HEARD) or ()),
        run_ids=tuple(session.get(RUN_IDS) or ()),
        question=_parsed(session, QUESTION, Question),
        preparing=bool(session.get(PREPARING)),
        own_addresses=tuple(session.get(OWN_ADDRESSES) or ()),
    )


def with_run(session: Readable, run_id: str) -> list[str]:
    """Return the conversation's runs with a new one, the latest first."""
    before: Sequence[str] = session.get(RUN_IDS) or ()
    return [run_id, *(each for each in before if each != run_id)][:_MOST_RUNS]


def overrides(session: Readable) -> Overrides:
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


def dumped_reading(reading: Reading) -> str:
    """Return a reading as JSON."""
    return _READINGS.dump_json(reading).decode()


def reading(session: Readable, key: str = READING) -> Reading | None:
    """Return what was read, or None."""
    value = session.get(key)
    return None if value is None else _READINGS.validate_json(value)


def dumped_reply(reply: Reply) -> dict[str, str]:
    """Return a reply as its kind and JSON."""
    kind = type(reply).__name__
    return {"kind": kind, "value": _REPLIES[kind].dump_json(reply).decode()}


def reply(session: Readable) -> Reply | None:
    """Return what is done about the message, or None."""
    value = session.get(REPLY)
    if value is None:
        return None
    parsed: Reply = _REPLIES[value["kind"]].validate_json(value["value"])
    return parsed


def _parsed(session: Readable, key: str, kind: type[M]) -> M | None:
    value = session.get(key)
    return None if value is None else kind.model_validate_json(value)
