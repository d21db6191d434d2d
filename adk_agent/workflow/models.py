"""The language model of the ADK agents; if none is configured, rules replace it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator

from google.adk.models import LlmCapabilities
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.models.registry import LLMRegistry

from adk_agent.core.errors import PreflightError
from adk_agent.core.models import ModelSpec, default_spec, import_litellm
from adk_agent.core.settings import Settings


class UnaskedModel(BaseLlm):
    """Never called, because the agent answers first. Without it ADK would use a default model."""

    model: str = "greenroom/rules"

    def generate_content_async(
        self,
        llm_request: LlmRequest,  # noqa: ARG002 - the signature is ADK's
        stream: bool = False,  # noqa: ARG002
    ) -> AsyncGenerator[LlmResponse, None]:
        """Raise, because no model is configured.

        Raises:
            RuntimeError: Always.
        """
        raise RuntimeError("an agent that works by rules called a language model")


class TimedModel(BaseLlm):
    """A model whose answers may take only so long.

    Args:
        inner: The model.
        timeout_s: Seconds for one whole answer.
    """

    inner: BaseLlm
    timeout_s: float

    @property
    def capabilities(self) -> LlmCapabilities:
        """The abilities of the model."""
        return self.inner.capabilities

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        """Yield the model's answer.

        Raises:
            TimeoutError: It took too long.
        """
        clock = asyncio.get_running_loop().time
        until = clock() + self.timeout_s
        answer = self.inner.generate_content_async(llm_request, stream)
        async with contextlib.aclosing(answer):
            while True:
                try:
                    part = await asyncio.wait_for(anext(answer), until - clock())
                except StopAsyncIteration:
                    return
                yield part


def timed(model: BaseLlm | str, timeout_s: float) -> TimedModel:
    """Return a model whose answers may take only so long; ADK serves one that is named."""
    inner = LLMRegistry.new_llm(model) if isinstance(model, str) else model
    return TimedModel(model=inner.model, inner=inner, timeout_s=timeout_s)


def agent_model(settings: Settings) -> BaseLlm | str | None:
    """Return the model of ADK agents: GREENROOM_AGENT_MODEL, unless the default is named, or None.

    Raises:
        PreflightError: A Gemini model is configured without access to Google's API.
    """
    if settings.by_rules:
        return None
    if settings.agent_model is not None and settings.model is None:
        if "/" not in settings.agent_model:
            if not settings.google_configured:
                raise PreflightError(
                    f"GREENROOM_AGENT_MODEL {settings.agent_model!r} is served by Google's API: "
                    "set GOOGLE_API_KEY, or write provider/model for another one, or use --offline"
                )
            return settings.agent_model  # a bare Gemini name, which ADK serves itself
        return _lite_llm(ModelSpec(name=settings.agent_model, litellm_name=settings.agent_model))
    spec = default_spec(settings)
    return None if spec is None else _lite_llm(spec)


def agent_author(settings: Settings) -> str:
    """Return the author of an ADK agent's prose: `rules`, or `llm:` and the model's name."""
    spec = default_spec(settings)
    name = spec.name if spec is not None else None
    if settings.model is None and not settings.offline:
        name = settings.agent_model or name
    return "rules" if name is None else f"llm:{name}"


def _lite_llm(spec: ModelSpec) -> BaseLlm:
    import_litellm()
    from google.adk.models.lite_llm import LiteLlm

    arguments = {} if spec.base_url is None else {"api_base": spec.base_url}
    if spec.base_url is not None or spec.api_key is not None:
        arguments["api_key"] = spec.api_key.get_secret_value() if spec.api_key else "none"
    return LiteLlm(model=spec.litellm_name, timeout=120, num_retries=2, **arguments)
