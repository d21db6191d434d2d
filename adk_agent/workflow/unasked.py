"""UnaskedModel: the model of an ADK agent whose work rules do."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse


class UnaskedModel(BaseLlm):
    """Never called, for the agent answers first. Without it ADK would use a default model."""

    model: str = "greenroom/rules"

    def generate_content_async(
        self,
        llm_request: LlmRequest,  # noqa: ARG002 - the signature is ADK's
        stream: bool = False,  # noqa: ARG002
    ) -> AsyncGenerator[LlmResponse, None]:
        """Raise, for no model is configured.

        Raises:
            RuntimeError: always.
        """
        raise RuntimeError("an agent that goes by rules asked for a language model")
