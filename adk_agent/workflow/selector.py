"""TaskSelector: reads what a person says into an intent.

With a language model, its reading counts, and code guards it (`adk_agent.requests.guards`). A
reading that does not hold goes back to the model once with the reason, then becomes a question to
the person. Rules read AgentBeats JSON, plain follow-ups such as "status", and everything where no
model is configured or it does not answer.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.agents.callback_context import CallbackContext
from google.adk.agents.readonly_context import ReadonlyContext
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.set_model_response_tool import SetModelResponseTool
from google.adk.tools.tool_context import ToolContext
from google.genai import types

from adk_agent.conversation.outcome import Problem
from adk_agent.conversation.questions import verdict
from adk_agent.conversation.replies import Reading
from adk_agent.core.errors import GreenroomError, ModelError
from adk_agent.core.escaping import escape_markdown
from adk_agent.requests.by_rules import is_json
from adk_agent.requests.draft import IntentDraft
from adk_agent.requests.intent import (
    Ask,
    Cancel,
    Evaluate,
    Failures,
    Help,
    Intent,
    Refuse,
    Results,
    Situation,
    Smalltalk,
    Status,
)
from adk_agent.requests.language.injection import refuse_injection
from adk_agent.requests.language.sentence import MAX_LENGTH
from adk_agent.requests.language.vocabulary import Vocabulary
from adk_agent.requests.lookup import REGISTER_AGENT, LookupTools
from adk_agent.requests.refusal import Refusal
from adk_agent.workflow import state
from adk_agent.workflow.briefing import Briefing
from adk_agent.workflow.content import model_says, nothing_said, text_of
from adk_agent.workflow.drafting import Checker, Held, Rejected
from adk_agent.workflow.models import UnaskedModel
from adk_agent.workflow.registering import not_to_be_registered
from tau_bridge.benchmarks import Benchmarks
from tau_bridge.errors import BridgeError

logger = logging.getLogger(__name__)

NAME = "TaskSelector"
MAX_CALLS = 3
"""Most calls of the model for one message: to look for tasks, to read, to correct the reading."""
READING_CHECK = "check_reading"
_CALLS, _SENT_BACK = "selector_calls", "selector_sent_back"
_MOST_WORDS_OF_A_COMMAND = 6
_PLAIN = (Status, Cancel, Results, Failures, Help, Smalltalk)
"""Intents that rules read for sure in a short message, so that no model is asked."""

ReadByRules = Callable[[str, Situation], Awaitable[Reading]]


def build_selector(
    model: BaseLlm | str | None,
    benchmarks: Benchmarks,
    lookup: LookupTools,
    *,
    read_by_rules: ReadByRules,
    author: str = "llm",
    may_register: bool = True,
) -> LlmAgent:
    """Build the selector, which leaves the reading or the problem in the session state.

    Args:
        model: Reads sentences; None for rules.
        benchmarks: The benchmarks that requests may name.
        lookup: Knows registered agents; its tools go to the language model.
        read_by_rules: Reads without a model.
        author: The name under which the model's readings are recorded.
        may_register: True if requests may register agents, under names that all users share.
    """
    functions = [f for f in lookup.functions if may_register or f.__name__ != REGISTER_AGENT]
    selector = _Selector(
        benchmarks,
        lookup,
        read_by_rules=read_by_rules,
        author=author if model is not None else None,
        tools=frozenset(function.__name__ for function in functions),
    )
    return LlmAgent(
        name=NAME,
        description="Reads what a person wants, and selects the tasks to play.",
        model=model or UnaskedModel(),
        instruction=selector.instruction,
        # Earlier turns hold texts of agents; what bears on this one stands in the instruction.
        include_contents="none",
        tools=[*functions, _ReadingCheck()],
        output_schema=IntentDraft,
        generate_content_config=types.GenerateContentConfig(temperature=0.0),
        before_agent_callback=selector.before_agent,
        before_model_callback=selector.before_model,
        before_tool_callback=selector.before_tool,
        after_model_callback=selector.after_model,
        on_model_error_callback=selector.on_model_error,
    )


class _ReadingCheck(BaseTool):
    """Tells the model why its reading was not used. The model is not offered it as a tool."""

    def __init__(self) -> None:
        super().__init__(name=READING_CHECK, description="Checks a reading.")

    async def process_llm_request(
        self,
        *,
        tool_context: ToolContext,  # noqa: ARG002 - ADK's signature
        llm_request: LlmRequest,
    ) -> None:
        llm_request.tools_dict[self.name] = self

    async def run_async(
        self,
        *,
        args: dict[str, Any],
        tool_context: ToolContext,  # noqa: ARG002 - ADK's signature
    ) -> Any:
        return {"error": args["why"], "to_do": "answer once more with a corrected JSON object"}


class _Selector:
    def __init__(
        self,
        benchmarks: Benchmarks,
        lookup: LookupTools,
        *,
        read_by_rules: ReadByRules,
        author: str | None,
        tools: frozenset[str],
    ) -> None:
        self._lookup = lookup
        self._read_by_rules = read_by_rules
        self._author = author
        self._tools = tools
        self._vocabulary = Vocabulary.of(benchmarks)
        self._checker = Checker(benchmarks=benchmarks, vocabulary=self._vocabulary)
        self._briefing = Briefing(benchmarks, may_register=REGISTER_AGENT in tools)

    def instruction(self, context: ReadonlyContext) -> str:
        return self._briefing.of(self._situation(context.state))

    async def before_agent(self, callback_context: CallbackContext) -> types.Content | None:
        """Begin a turn, and end it without a model where none is needed."""
        session = callback_context.state
        text = text_of(callback_context.user_content)
        given = state.take_given_plan(session)
        state.begin(session, text)
        session[_CALLS], session[_SENT_BACK] = 0, False
        if given is not None:
            session[state.PLAN] = given.model_dump_json()
            return nothing_said()
        reading = state.reading(session, state.GIVEN_READING)
        session[state.GIVEN_READING] = None
        situation = self._situation(session)
        try:
            reading = reading or await self._without_a_model(text, situation)
        except (GreenroomError, BridgeError) as error:
            session[state.PROBLEM] = Problem.of(error).model_dump_json()
            return nothing_said()
        if reading is None:
            return None
        return self._done(callback_context, reading)

    async def _without_a_model(self, text: str, situation: Situation) -> Reading | None:
        """Return what rules read for sure; None if the model is to read."""
        try:
            refuse_injection(text[:MAX_LENGTH], self._vocabulary)
        except Refusal as refusal:
            return Reading(intent=Refuse(reason=str(refusal), code=refusal.code), text=text)
        unreadable = not text.strip() or len(text) > MAX_LENGTH
        if self._author is None or unreadable or is_json(text, self._vocabulary):
            return await self._read_by_rules(text, situation)
        if _settles(text, situation):
            return await self._read_by_rules(text, situation)
        if len(text.split()) <= _MOST_WORDS_OF_A_COMMAND:
            reading = await self._read_by_rules(text, situation)
            return reading if isinstance(reading.intent, _PLAIN) else None
        return None

    def before_model(self, callback_context: CallbackContext, llm_request: LlmRequest) -> None:  # noqa: ARG002 - ADK's signature
        """Count the call."""
        callback_context.state[_CALLS] = int(callback_context.state.get(_CALLS) or 0) + 1

    def before_tool(
        self, tool: BaseTool, args: dict[str, Any], tool_context: ToolContext
    ) -> dict[str, Any] | None:
        """Return an error if the model registers an agent that the request does not name."""
        if tool.name != REGISTER_AGENT:
            return None
        asked = str(tool_context.state.get(state.REQUEST) or "")
        why = not_to_be_registered(args, asked, self._lookup.registered(), self._vocabulary)
        return None if why is None else {"error": why}

    async def after_model(
        self, callback_context: CallbackContext, llm_response: LlmResponse
    ) -> LlmResponse | None:
        session = callback_context.state
        if state.reading(session) is not None or state.problem(session) is not None:
            return None  # the answer of `on_model_error`
        if llm_response.partial:
            return llm_response.model_copy(update={"content": nothing_said()})
        if self._may_look_around(callback_context, llm_response):
            return None
        text, situation = str(session.get(state.REQUEST) or ""), self._situation(session)
        answer = _answer_in(llm_response)
        checked = self._checker.check(answer, text, situation, state.overrides(session))
        may_retry = self._may_call(callback_context) and not session.get(_SENT_BACK)
        if isinstance(checked, Rejected) and may_retry:
            session[_SENT_BACK] = True
            return _said(llm_response, _sent_back(answer, checked.why))
        content = await self._ended(callback_context, checked, text, situation)
        return _said(llm_response, content)

    async def _ended(
        self, context: CallbackContext, checked: Held | Rejected, text: str, situation: Situation
    ) -> types.Content:
        """End the turn with a reading of the model, a question, or the reading of the rules."""
        author = f"{self._author}"
        if isinstance(checked, Held):
            read = _whole(text, checked.intent, situation)
            return self._done(context, Reading(intent=checked.intent, text=read, read_by=author))
        logger.info("a reading of the model was not used: %s", checked.why)
        if checked.question is not None:
            ask = Ask(question=escape_markdown(checked.question))
            return self._done(context, Reading(intent=ask, text=text, read_by=author))
        cause = "the language model gave no answer that could be used"
        return await self._fallen_back(context, cause, text, situation)

    def _may_look_around(self, context: CallbackContext, llm_response: LlmResponse) -> bool:
        """Tell whether the model calls only known tools, and may be asked again after that."""
        called = {call.name for call in _calls_in(llm_response)}
        return bool(called) and called <= self._tools and self._may_call(context)

    def _may_call(self, context: CallbackContext) -> bool:
        return int(context.state.get(_CALLS) or 0) < MAX_CALLS

    async def on_model_error(
        self,
        callback_context: CallbackContext,
        llm_request: LlmRequest,  # noqa: ARG002 - ADK's signature
        error: Exception,
    ) -> LlmResponse:
        # The provider's text may contain anything, even parts of a key: log it only at debug.
        logger.debug("the selector's model failed", exc_info=error)
        session = callback_context.state
        text, situation = str(session.get(state.REQUEST) or ""), self._situation(session)
        cause = f"the language model that reads requests could not be called ({_kind(error)})"
        content = await self._fallen_back(callback_context, cause, text, situation)
        return LlmResponse(content=content)

    async def _fallen_back(
        self, context: CallbackContext, cause: str, text: str, situation: Situation
    ) -> types.Content:
        """Read by rules with a warning; a message that they cannot read is a problem."""
        logger.warning("%s; rules read the request", cause)
        try:
            reading = await self._read_by_rules(text, situation)
        except (GreenroomError, BridgeError) as error:
            context.state[state.PROBLEM] = Problem.of(error).model_dump_json()
            return nothing_said()
        intent = reading.intent
        if isinstance(intent, Ask | Refuse) and intent.code != "injection":
            why = intent.question if isinstance(intent, Ask) else intent.reason
            problem = ModelError(f"{cause}, and rules cannot read the request: {why}. {_TO_DO}")
            context.state[state.PROBLEM] = Problem.of(problem).model_dump_json()
            return nothing_said()
        warning = f"{cause}; the request was read by rules"
        return self._done(context, replace(reading, warnings=(*reading.warnings, warning)))

    def _done(self, context: CallbackContext, reading: Reading) -> types.Content:
        """Leave the reading in the state; return the warnings to be shown."""
        intent = reading.intent
        if isinstance(intent, Evaluate) and reading.warnings:
            warned = (*intent.request.warnings, *reading.warnings)
            request = intent.request.model_copy(update={"warnings": warned})
            intent = intent.model_copy(update={"request": request})
            reading = replace(reading, intent=intent)
        context.state[state.READING] = state.dumped_reading(reading)
        if not reading.warnings:
            return nothing_said()
        return model_says(escape_markdown("\n\n".join(f"Warning: {w}." for w in reading.warnings)))

    def _situation(self, session: state.Readable) -> Situation:
        return state.situation(session, self._lookup.registered())


_TO_DO = (
    "Check AGENTBEATS_LLM_API_KEY, AGENTBEATS_LLM_BASE_URL, AGENTBEATS_LLM_MODEL and "
    "GREENROOM_AGENT_MODEL, or use --offline"
)


def _settles(text: str, situation: Situation) -> bool:
    """Tell whether a message is a plain yes or no to the open question."""
    question = situation.question
    return question is not None and question.waiting is not None and verdict(text) is not None


def _whole(text: str, intent: Intent, situation: Situation) -> str:
    """Return what was read: an evaluation may complete the request of the open question."""
    question = situation.question
    if question is None or not isinstance(intent, Evaluate | Ask):
        return text
    return f"{question.request}\n{text}".strip()


def _kind(error: Exception) -> str:
    return "it took too long" if isinstance(error, TimeoutError) else type(error).__name__


def _said(response: LlmResponse, content: types.Content) -> LlmResponse:
    # Without its reason: ADK takes a response that stopped with nothing to show for an error.
    return response.model_copy(update={"content": content, "finish_reason": None})


def _sent_back(answer: str, why: str) -> types.Content:
    """Return a call of the reading check, whose result asks the model once more."""
    call = types.FunctionCall(name=READING_CHECK, args={"reading": answer, "why": why})
    return types.Content(role="model", parts=[types.Part(function_call=call)])


def _calls_in(llm_response: LlmResponse) -> list[types.FunctionCall]:
    parts = llm_response.content.parts if llm_response.content is not None else None
    return [part.function_call for part in parts or () if part.function_call is not None]


def _answer_in(llm_response: LlmResponse) -> str:
    """Return the draft as JSON: the answer's text, or the arguments of ADK's tool for answers.

    ADK offers `set_model_response` to models that cannot take tools and a schema at once.
    """
    for call in _calls_in(llm_response):
        if call.name == SetModelResponseTool.NAME:
            return json.dumps(call.args or {})
    return text_of(llm_response.content)
