"""OfflineModel: the embedded deterministic model that serves ADK agents when none is configured."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable

from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.genai import types

from adk_agent.workflow.content import model_says, text_of

OFFLINE_MODEL = "greenroom/offline"

Answer = Callable[[LlmRequest], str]


class OfflineModel(BaseLlm):
    """Answers with a pure function of the request. No network, no randomness."""

    model: str = OFFLINE_MODEL
    answer: Answer

    async def generate_content_async(
        self,
        llm_request: LlmRequest,
        stream: bool = False,  # noqa: ARG002 - the signature is ADK's
    ) -> AsyncGenerator[LlmResponse, None]:
        """One whole answer."""
        # Off the loop: reading a long request takes up to a second.
        text = await asyncio.to_thread(self.answer, llm_request)
        yield LlmResponse(
            content=model_says(text),
            usage_metadata=types.GenerateContentResponseUsageMetadata(
                prompt_token_count=0, candidates_token_count=0, total_token_count=0
            ),
        )


def last_user_text(request: LlmRequest) -> str:
    """The text of the last user message of a request, empty if there is none."""
    for content in reversed(request.contents):
        if content.role == "user":
            return text_of(content)
    return ""
