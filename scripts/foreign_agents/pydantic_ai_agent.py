"""An agent of pydantic-ai behind fasta2a."""

import os
import sys

import uvicorn
from fasta2a.pydantic_ai import agent_to_a2a
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

PORT = int(sys.argv[1])

provider = OpenAIProvider(base_url=os.environ["MODEL_URL"], api_key="none")
agent = Agent(
    OpenAIChatModel("rules", provider=provider),
    name="service",
    instructions="You serve customers. Answer with one JSON object, as you are told.",
)
app = agent_to_a2a(agent, url=f"http://127.0.0.1:{PORT}")
uvicorn.run(app, host="127.0.0.1", port=PORT, log_level="warning")
