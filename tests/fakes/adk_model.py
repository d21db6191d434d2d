"""ScriptedModel: a language model for tests of the workflow, which answers without a network."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from typing import Any

from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.genai import types
from pydantic import Field

from adk_agent.workflow.content import model_says, text_of

Step = str | dict[str, Any] | None
"""A text; a call of a tool as `{"tool": name, "args": {...}}`; None: cannot be called."""


class ScriptedModel(BaseLlm):
    """Gives one answer, or one after another; keeps what it was asked.

    Args:
        answer: The answer to every call; None: it cannot be called, with a key in its error.
        answers: The answers in turn, instead; the last one is repeated.
        reply: Makes the answer from what it was asked, instead.
        hangs: It never answers.
        usage: What each answer says that it took.
    """

    model: str = "scripted"
    answer: str | None = None
    answers: list[Step] = Field(default_factory=list)
    reply: Callable[[LlmRequest], Step] | None = None
    hangs: bool = False
    usage: types.GenerateContentResponseUsageMetadata | None = None
    asked: list[LlmRequest] = Field(default_factory=list)

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        """One whole answer.

        Raises:
            ConnectionError: there is none.
        """
        self.asked.append(llm_request)
        if self.hangs:
            await asyncio.Event().wait()
        step = self._step(llm_request)
        if step is None:
            raise ConnectionError("sk-secret-key is refused")
        if isinstance(step, str):
            yield LlmResponse(
                content=model_says(step),
                finish_reason=types.FinishReason.STOP,
                usage_metadata=self.usage,
            )
            return
        call = types.FunctionCall(name=step["tool"], args=step["args"])
        parts = [types.Part(function_call=call)]
        yield LlmResponse(
            content=types.Content(role="model", parts=parts), usage_metadata=self.usage
        )

    @property
    def calls(self) -> int:
        """How often it was called."""
        return len(self.asked)

    def told(self, at: int = -1) -> str:
        """Everything that one call told it: the instruction, texts and results of tools."""
        request = self.asked[at]
        said = [str(request.config.system_instruction)]
        for content in request.contents:
            said.append(text_of(content))
            results = (part.function_response for part in content.parts or ())
            said += [str(result.response) for result in results if result is not None]
        return "\n".join(said)

    def _step(self, request: LlmRequest) -> Step:
        if self.reply is not None:
            return self.reply(request)
        if not self.answers:
            return self.answer
        return self.answers[min(self.calls, len(self.answers)) - 1]
