"""An agent of google-adk: `to_a2a` over an `LlmAgent` with a model behind LiteLLM."""

import json
import os
import sys

import uvicorn
from google.adk.a2a.utils.agent_to_a2a import to_a2a
from google.adk.agents import LlmAgent
from google.adk.agents.callback_context import CallbackContext
from google.adk.models import LlmResponse
from google.adk.models.lite_llm import LiteLlm
from google.genai import types

HOST, PORT = "127.0.0.1", int(sys.argv[1])


def as_text(callback_context: CallbackContext, llm_response: LlmResponse) -> LlmResponse | None:
    """Turn calls that LiteLlm read out of the model's text back into that text."""
    del callback_context
    parts = (llm_response.content.parts or []) if llm_response.content else []
    calls = [part.function_call for part in parts if part.function_call]
    if not calls:
        return None
    text = json.dumps({"name": calls[0].name, "arguments": dict(calls[0].args or {})})
    llm_response.content = types.Content(role="model", parts=[types.Part(text=text)])
    return llm_response


callback = as_text if "--as-text" in sys.argv else None
model = LiteLlm(model="openai/rules", api_base=os.environ["MODEL_URL"], api_key="none")
agent = LlmAgent(
    name="service",
    model=model,
    instruction="You serve customers. Answer with one JSON object, as you are told.",
    after_model_callback=callback,
)
uvicorn.run(to_a2a(agent, host=HOST, port=PORT), host=HOST, port=PORT, log_level="warning")
