"""ResultsInterpreter: the last word of a turn: a report in words, or the reply to a question."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from google.adk.agents import LlmAgent
from google.adk.agents.callback_context import CallbackContext
from google.adk.agents.readonly_context import ReadonlyContext
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.genai import types

from adk_agent.conversation.deps import ConversationDeps
from adk_agent.conversation.replies import Answer, Asked, Refused, Reply
from adk_agent.core.escaping import escape_markdown
from adk_agent.core.files import PRIVATE_FILE, write_whole
from adk_agent.requests.intent import Compare, Failures, Results, Why
from adk_agent.results.digest import template_prose, unsupported_numbers
from adk_agent.results.markdown import render_markdown
from adk_agent.results.report import EvaluationReport
from adk_agent.runs.store import MARKDOWN
from adk_agent.workflow import state
from adk_agent.workflow.artifacts import offer_files, offer_report
from adk_agent.workflow.content import as_sentence, model_says, nothing_said, text_of
from adk_agent.workflow.facts import facts_about
from adk_agent.workflow.models import UnaskedModel
from adk_agent.workflow.prompts import prompt

logger = logging.getLogger(__name__)

NAME = "ResultsInterpreter"
RULES = "rules"
_WORDED = (Results, Failures, Why, Compare)
"""Intents whose answers a language model words from the run's facts."""


TakeReport = Callable[[str], EvaluationReport]
"""Takes a session's id and returns the report of the run just played in it, once."""


def build_interpreter(
    model: BaseLlm | str | None, take_report: TakeReport, deps: ConversationDeps, *, author: str
) -> LlmAgent:
    """Build the interpreter. It calls no model where there is nothing to put into words.

    Args:
        model: Words reports and answers; None for templates.
        take_report: Returns the report.
        deps: What answers are made from.
        author: The author of the prose: `rules`, or `llm:` and the model's name.
    """
    interpreter = _Interpreter(take_report, deps, author, has_model=model is not None)
    return LlmAgent(
        name=NAME,
        description="Explains reports and answers questions about them.",
        model=model or UnaskedModel(),
        instruction=interpreter.instruction,
        include_contents="none",
        output_key=state.INTERPRETATION,
        generate_content_config=types.GenerateContentConfig(temperature=0.0),
        before_agent_callback=interpreter.before_agent,
        before_model_callback=interpreter.before_model,
        after_model_callback=interpreter.after_model,
        on_model_error_callback=interpreter.on_model_error,
        after_agent_callback=interpreter.after_agent,
    )


@dataclass(frozen=True, kw_only=True)
class _Words:
    """The task of putting something into words.

    Args:
        instruction: The prompt.
        template: The words that stand in for the model's.
        invented: Returns the numbers of a text that are not in the facts.
    """

    instruction: str
    template: str
    invented: Callable[[str], Sequence[str]]


class _Interpreter:
    def __init__(
        self, take_report: TakeReport, deps: ConversationDeps, author: str, *, has_model: bool
    ) -> None:
        self._take_report = take_report
        self._deps = deps
        self._author = author
        self._has_model = has_model
        self._asked: dict[str, _Words] = {}
        """The open tasks of the model, by session."""

    def instruction(self, context: ReadonlyContext) -> str:
        words = self._asked.get(context.session.id)
        return words.instruction if words is not None else ""

    async def before_agent(self, callback_context: CallbackContext) -> None:
        """Gather what a model is asked."""
        session = callback_context.state
        words = None
        if state.digest(session) is not None:
            words = _about_report(session)
        elif state.problem(session) is None:
            # Off the loop: the facts about a run are read from its files.
            words = await asyncio.to_thread(_about_answer, session, self._deps)
        if words is not None:
            self._asked[callback_context.session.id] = words

    def before_model(
        self,
        callback_context: CallbackContext,
        llm_request: LlmRequest,  # noqa: ARG002 - ADK's signature
    ) -> LlmResponse | None:
        """Say what needs no model: a problem, a reply that stands as it is, or a template."""
        words = self._asked.get(callback_context.session.id)
        if words is not None:
            return None if self._has_model else _response(LlmResponse(), words.template)
        text = _plain(callback_context.state)
        return LlmResponse(content=model_says(text) if text else nothing_said())

    def after_model(
        self, callback_context: CallbackContext, llm_response: LlmResponse
    ) -> LlmResponse | None:
        words = self._asked.get(callback_context.session.id)
        if words is None or llm_response.content is None:
            return None
        if llm_response.partial:
            # Its numbers are not checked yet, so nothing is shown.
            return llm_response.model_copy(update={"content": nothing_said()})
        prose = text_of(llm_response.content)
        invented = words.invented(prose)
        if prose.strip() and not invented:
            return _response(llm_response, prose)
        cause = f"numbers that are not in the report ({', '.join(invented)})" if invented else ""
        callback_context.state[state.AUTHOR] = RULES
        return _response(llm_response, _by_template(words, cause or "an empty answer"))

    def on_model_error(
        self,
        callback_context: CallbackContext,
        llm_request: LlmRequest,  # noqa: ARG002 - ADK's signature
        error: Exception,
    ) -> LlmResponse | None:
        words = self._asked.get(callback_context.session.id)
        if words is None:
            return None
        callback_context.state[state.AUTHOR] = RULES
        return _response(LlmResponse(), _by_template(words, f"an error ({type(error).__name__})"))

    async def after_agent(self, callback_context: CallbackContext) -> None:
        session = callback_context.state
        self._asked.pop(callback_context.session.id, None)
        if state.digest(session) is not None:
            await self._finish(callback_context)
            return
        reply = state.reply(session)
        if isinstance(reply, Answer) and reply.files:
            await offer_files(callback_context, reply.files)

    async def _finish(self, context: CallbackContext) -> None:
        """Save the prose of a model with the report, and offer the report as artifacts."""
        report = self._take_report(context.session.id)
        prose = context.state.get(state.INTERPRETATION)
        if self._has_model and isinstance(prose, str):  # the template's was written with the report
            author = context.state.get(state.AUTHOR) or self._author
            # A long report takes time that other evaluations need on the event loop.
            await asyncio.to_thread(self._save, report, prose, author)
        await offer_report(context, report.run_id, self._deps)

    def _save(self, report: EvaluationReport, prose: str, author: str) -> None:
        text = render_markdown(report, interpretation=prose, author=author)
        write_whole(self._deps.results_dir / report.run_id / MARKDOWN, text, mode=PRIVATE_FILE)


def _about_report(session: state.Readable) -> _Words | None:
    digest = state.digest(session)
    if digest is None:
        return None
    return _Words(
        instruction=prompt("interpreter", {"digest": escape_markdown(digest.model_dump_json())}),
        template=template_prose(digest),
        invented=lambda prose: unsupported_numbers(prose, digest),
    )


def _about_answer(session: state.Readable, deps: ConversationDeps) -> _Words | None:
    """Return what a model words of a reply; None for one that stands as it is."""
    reading, reply = state.reading(session), state.reply(session)
    if not (reading and isinstance(reading.intent, _WORDED) and isinstance(reply, Answer)):
        return None
    run_ids = session.get(state.RUN_IDS) or (None,)
    run_id = reply.report_of or getattr(reading.intent, "run_id", None) or run_ids[0]
    facts = facts_about(reading.intent, reply, run_id, deps)
    asked = escape_markdown(str(session.get(state.REQUEST) or ""))
    return _Words(
        instruction=prompt("follow_up", {"question": asked, "facts": facts.text}),
        template=reply.text,
        invented=facts.invented,
    )


def _plain(session: state.Readable) -> str:
    """Return the words of a problem or of a reply that need no model."""
    found = state.problem(session)
    said = words_of(state.reply(session)) if found is None else escape_markdown(found.message)
    return as_sentence(said)


def words_of(reply: Reply | None) -> str:
    """Return the words of a reply; empty for one that has none."""
    match reply:
        case Answer() | Refused():
            return reply.text
        case Asked():
            return reply.question.text
        case _:
            return ""


def _response(response: LlmResponse, prose: str) -> LlmResponse:
    """Put prose into a response, escaped because it may quote agents and is shown as markdown."""
    return response.model_copy(update={"content": model_says(escape_markdown(prose))})


def _by_template(words: _Words, cause: str) -> str:
    logger.warning("the interpreter's model was not used because of %s", cause)
    note = f"_The language model gave {cause}; this was written by a template._"
    return f"{words.template}\n\n{note}"
