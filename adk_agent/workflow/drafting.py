"""Drafting: what of a language model's answer is used, and what it is told otherwise."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from adk_agent.core.errors import GreenroomError
from adk_agent.core.escaping import escape_markdown, one_line
from adk_agent.core.plan import Overrides
from adk_agent.requests.draft import IntentDraft, intent_of
from adk_agent.requests.guards import Said, problems_of
from adk_agent.requests.intent import Ask, Evaluate, Intent, Refuse, Situation
from adk_agent.requests.language.vocabulary import Vocabulary
from adk_agent.requests.planning import resolve
from adk_agent.requests.refusal import Refusal
from tau_bridge.benchmarks import Benchmarks
from tau_bridge.errors import BridgeError

MOST_WORDS = 800
"""Most characters of a question or a refusal that a model words."""


@dataclass(frozen=True, kw_only=True)
class Held:
    """An answer of a model that may be used."""

    intent: Intent


@dataclass(frozen=True, kw_only=True)
class Rejected:
    """An answer that may not be used.

    Args:
        why: For the model, which may answer once more.
        question: For the person, if the model does no better; None if the answer is no intent.
    """

    why: str
    question: str | None = None


@dataclass(frozen=True, kw_only=True)
class Checker:
    """Checks answers of a model against what the person said and what there is.

    Args:
        benchmarks: What can be played.
        vocabulary: Their names.
    """

    benchmarks: Benchmarks
    vocabulary: Vocabulary

    def check(
        self, answer: str, text: str, situation: Situation, overrides: Overrides
    ) -> Held | Rejected:
        """Return the intent in a model's answer, or why there is none."""
        try:
            draft = IntentDraft.model_validate(_json_object(answer))
        except ValidationError as error:
            return Rejected(why=f"the answer has the wrong shape: {_first_errors(error)}")
        except (ValueError, RecursionError):  # an answer may be nested without end
            return Rejected(why="the answer is not one JSON object")
        try:
            intent = intent_of(draft, situation.registered)
        except ValidationError as error:
            return Rejected(why=f"the answer has the wrong shape: {_first_errors(error)}")
        except Refusal as refusal:
            return Rejected(why=str(refusal), question=_question([str(refusal)]))
        except ValueError as error:
            return Rejected(why=str(error))
        said = Said.in_situation(text, situation, self.vocabulary)
        problems = problems_of(intent, said, situation.run_ids)
        problems = problems or self._impossible(intent, overrides)
        if problems:
            return Rejected(why="; ".join(problems), question=_question(problems))
        return Held(intent=_bounded(intent))

    def _impossible(self, intent: Intent, overrides: Overrides) -> list[str]:
        """Return why an evaluation cannot be planned."""
        if not isinstance(intent, Evaluate):
            return []
        try:
            resolve(intent.request, self.benchmarks, overrides)
        except (GreenroomError, BridgeError) as error:
            return [str(error)]
        return []


def _question(problems: list[str]) -> str:
    return (
        f"I could not read that safely: {'; '.join(problems)}. Please say it again with the "
        "agent's address, the domain and the number of tasks."
    )


def _bounded(intent: Intent) -> Intent:
    """Shorten and escape the words of a model that people will read."""
    if isinstance(intent, Ask):
        return intent.model_copy(update={"question": _words(intent.question)})
    if isinstance(intent, Refuse):
        return intent.model_copy(update={"reason": _words(intent.reason)})
    return intent


def _words(text: str) -> str:
    return escape_markdown(one_line(text, MOST_WORDS))


def _first_errors(error: ValidationError) -> str:
    found = error.errors(include_url=False, include_input=False)[:3]
    return "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in found)


def _json_object(answer: str) -> Any:
    """Return the first JSON object of a text.

    Raises:
        ValueError: There is none.
    """
    start = answer.find("{")
    if start < 0:
        raise ValueError("no JSON object")
    return json.JSONDecoder().raw_decode(answer, start)[0]
