"""The settings that the environment may give, and those that are refused."""

import pytest

from adk_agent.core.errors import RequestError
from adk_agent.core.settings import Settings


def test_an_address_of_tools_that_is_none_is_refused():
    for url in ("assessor:9020", "https://assessor", "http://a/b", "http://u@a", "http://"):
        with pytest.raises(RequestError, match="tools_url"):
            Settings.load(tools_url=url)
