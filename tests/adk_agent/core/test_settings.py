"""The settings that the environment may give, and those that are refused."""

import pytest

from adk_agent.core.errors import RequestError
from adk_agent.core.models import default_spec
from adk_agent.core.settings import Settings, variables


def test_an_address_of_tools_that_is_none_is_refused():
    for url in ("assessor:9020", "https://assessor", "http://a/b", "http://u@a", "http://"):
        with pytest.raises(RequestError, match="tools_url"):
            Settings.load(tools_url=url)


def test_an_empty_variable_counts_as_unset(monkeypatch):
    for name in ("AGENTBEATS_LLM_API_KEY", "AGENTBEATS_LLM_BASE_URL", "TAU2_DATA_DIR"):
        monkeypatch.setenv(name, "")
    settings = Settings.load()
    assert default_spec(settings) is None
    assert variables(["TAU2_DATA_DIR"]) == {}
