"""Language models on loopback for tests, and the settings that name them."""

from adk_agent.core.settings import Settings

KEY = "sk-very-secret"


def configured(url, **changes):
    return Settings.load(llm_api_key=KEY, llm_base_url=f"{url}/v1", llm_model="tiny", **changes)


def said(request):
    return "\n".join(str(message.get("content") or "") for message in request["messages"])
