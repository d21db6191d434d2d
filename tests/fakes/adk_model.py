"""ScriptedModel: a language model for tests of the workflow, which answers without a network."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse

from adk_agent.workflow.content import model_says


class ScriptedModel(BaseLlm):
    """Gives one answer, whatever it is asked; None: cannot be called, with a key in its error."""

    model: str = "scripted"
    answer: str | None

    async def generate_content_async(
        self,
        llm_request: LlmRequest,
        stream: bool = False,
    ) -> AsyncGenerator[LlmResponse, None]:
        """One whole answer.

        Raises:
            ConnectionError: there is none.
        """
        if self.answer is None:
            raise ConnectionError("sk-secret-key is refused")
        yield LlmResponse(content=model_says(self.answer))
