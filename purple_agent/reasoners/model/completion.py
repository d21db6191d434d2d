"""Completion: one question to one language model, and its answer, through litellm."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from purple_agent.json_values import depth_exceeds, read_json
from purple_agent.model_usage import note_call
from purple_agent.reasoners.model.errors import ModelAnswerError, ModelCallError, ToolsRefusedError
from purple_agent.reasoners.model.library import load_litellm
from purple_agent.settings import ModelChoice
from purple_agent.tokens import rough_count

CALL_TIMEOUT_S = 60.0
"""Seconds that one attempt may take."""
PAUSE_S = 0.5
"""Seconds before the second attempt; twice as long before each further one."""
MAX_ANSWER = 200_000
"""Characters of an answer that are looked at."""
MAX_CALLS = 20
"""Calls taken from one message; the rest is dropped."""

MAX_DEPTH = 32
"""Levels of nesting in arguments; deeper ones cannot be read."""

Message = Mapping[str, Any]

_KEY = re.compile(r"\b(sk|key|bearer)[-_ ][\w.-]{6,}", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class ProposedCall:
    """A call as a model wrote it. `arguments` is None where they are no JSON object."""

    name: str
    arguments: Mapping[str, Any] | None
    raw: str = ""
    """The arguments as they came, where they could not be read."""


@dataclass(frozen=True, kw_only=True)
class Completed:
    """A model's answer. `tokens` counts prompt and answer; it is estimated where unknown."""

    content: str = ""
    calls: tuple[ProposedCall, ...] = ()
    tokens: int = 0


class Completion(Protocol):
    """A way to ask a language model."""

    async def takes_tools(self, choice: ModelChoice) -> bool:
        """Tell whether to offer a model tools; True where that is not known."""
        ...

    async def __call__(
        self,
        choice: ModelChoice,
        messages: Sequence[Message],
        *,
        tools: Sequence[Mapping[str, Any]] = (),
        retries: int = 0,
    ) -> Completed:
        """Return the model's next message.

        Raises:
            ToolsRefusedError: it does not take tools; only where some were given.
            ModelCallError: it could not be called.
            ModelAnswerError: its answer cannot be read.
        """
        ...


class LiteLlmCompletion:
    """Asks through litellm, at temperature 0.

    Args:
        timeout_s: For one attempt.
        sleep: Waits so many seconds between attempts.
    """

    def __init__(
        self,
        *,
        timeout_s: float = CALL_TIMEOUT_S,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._timeout_s = timeout_s
        self._sleep = sleep

    async def takes_tools(self, choice: ModelChoice) -> bool:
        """Look the model up in litellm's list; True where it is not there."""
        litellm = await _litellm()
        name = _litellm_name(choice, litellm)
        if name not in litellm.model_cost and name.partition("/")[2] not in litellm.model_cost:
            return True
        return bool(litellm.supports_function_calling(model=name))

    async def __call__(
        self,
        choice: ModelChoice,
        messages: Sequence[Message],
        *,
        tools: Sequence[Mapping[str, Any]] = (),
        retries: int = 0,
    ) -> Completed:
        """Return the model's next message; see `Completion`."""
        litellm = await _litellm()
        for attempt in range(retries + 1):
            try:
                response = await self._attempt(litellm, choice, messages, tools)
                break
            except Exception as error:  # noqa: BLE001 - litellm maps providers' errors loosely
                if attempt == retries or not _may_pass(error, litellm):
                    refused = tools and _is_about_form(error, litellm)
                    kind = ToolsRefusedError if refused else ModelCallError
                    raise kind(_explain(choice, error)) from None
            await self._sleep(PAUSE_S * 2**attempt)
        note_call(*_usage(response, litellm))
        return _read(response, choice, messages)

    async def _attempt(
        self,
        litellm: Any,
        choice: ModelChoice,
        messages: Sequence[Message],
        tools: Sequence[Mapping[str, Any]],
    ) -> Any:
        async with asyncio.timeout(self._timeout_s):
            return await litellm.acompletion(
                model=_litellm_name(choice, litellm),
                messages=[dict(message) for message in messages],
                tools=[dict(tool) for tool in tools] or None,
                api_key=_key_of(choice),
                api_base=choice.base_url,
                temperature=0.0,
                timeout=self._timeout_s,
                # Its own retries also repeat what can never work, and twice as often as told.
                num_retries=0,
                max_retries=0,
                drop_params=True,  # some models take no temperature
            )


def _may_pass(error: Exception, litellm: Any) -> bool:
    """Tell whether the same request may work a moment later. A timeout is not tried again."""
    passing = (
        litellm.APIConnectionError,
        litellm.InternalServerError,
        litellm.RateLimitError,
        litellm.ServiceUnavailableError,
    )
    return isinstance(error, passing) and not isinstance(error, litellm.Timeout)


async def _litellm() -> Any:
    try:
        return await asyncio.to_thread(load_litellm)
    except ImportError as error:
        raise ModelCallError(f"language models need the package litellm: {error}") from error


def _litellm_name(choice: ModelChoice, litellm: Any) -> str:
    """Return the name with its provider, by default OpenAI's behind an own address."""
    providers = {getattr(item, "value", item) for item in litellm.provider_list}
    if choice.base_url is None or choice.name.partition("/")[0] in providers:
        return choice.name
    return f"openai/{choice.name}"


def _key_of(choice: ModelChoice) -> str | None:
    if choice.api_key:
        return choice.api_key.get_secret_value()
    # Local OpenAI-compatible servers need no key, but the client insists on one.
    return "none" if choice.base_url is not None else None


def _is_about_form(error: Exception, litellm: Any) -> bool:
    """Tell whether a request was refused for its form, and not for its length or its content."""
    other = (litellm.ContextWindowExceededError, litellm.ContentPolicyViolationError)
    form = (litellm.BadRequestError, litellm.UnprocessableEntityError)
    return isinstance(error, form) and not isinstance(error, other)


def _explain(choice: ModelChoice, error: Exception) -> str:
    first_line = next(iter(str(error).splitlines()), "")
    if choice.api_key:
        first_line = first_line.replace(choice.api_key.get_secret_value(), "***")
    text = _KEY.sub("***", first_line)[:300]
    return f"the language model {choice.name!r} could not be called: {type(error).__name__}: {text}"


def _usage(response: Any, litellm: Any) -> tuple[int | None, int | None, float | None]:
    """Return the tokens of prompt and answer, and the cost; None where they are not known.

    litellm gives zero tokens to an answer without usage, which no call has.
    """
    usage = getattr(response, "usage", None)
    prompt = getattr(usage, "prompt_tokens", None) or None
    if prompt is None:
        return None, None, None
    try:
        cost = float(litellm.completion_cost(completion_response=response))
    except Exception:  # noqa: BLE001 - raised for every model without a known price
        cost = None
    return prompt, getattr(usage, "completion_tokens", None), cost


def _read(response: Any, choice: ModelChoice, messages: Sequence[Message]) -> Completed:
    try:
        message = response.choices[0].message
        content = message.content or ""
        calls = tuple(
            proposed(call.function.name or "", call.function.arguments)
            for call in (message.tool_calls or ())[:MAX_CALLS]
        )
    except (AttributeError, IndexError, TypeError) as error:
        raise ModelAnswerError(
            f"the answer of the language model {choice.name!r} cannot be read"
        ) from error
    if not isinstance(content, str):
        raise ModelAnswerError(f"the language model {choice.name!r} answered no text")
    total = getattr(getattr(response, "usage", None), "total_tokens", None)
    tokens = total if isinstance(total, int) and total > 0 else estimate_tokens(messages, content)
    return Completed(content=content[:MAX_ANSWER], calls=calls, tokens=tokens)


def proposed(name: str, arguments: Any) -> ProposedCall:
    """Read a proposed call, whether its arguments come as JSON text or as an object."""
    value, raw = arguments, ""
    if isinstance(arguments, str) or arguments is None:
        raw = (arguments or "")[:MAX_ANSWER]
        try:
            value = read_json(raw or "{}")
        except ValueError:
            value = None
    if not isinstance(value, dict) or depth_exceeds(value, MAX_DEPTH):
        return ProposedCall(name=name, arguments=None, raw=raw or repr(type(arguments).__name__))
    return ProposedCall(name=name, arguments=value)


def estimate_tokens(messages: Sequence[Message], content: str) -> int:
    """Estimate the tokens of a question and its answer."""
    return rough_count(*(str(message.get("content") or "") for message in messages), content)
