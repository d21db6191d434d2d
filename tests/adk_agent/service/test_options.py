"""What may be chosen for the edge of the service."""

import pytest

from adk_agent.core.errors import RequestError
from adk_agent.service.options import parse_task_store


@pytest.mark.parametrize(
    "text", ["", "sqlite", "sqlite:", "sqlite: ", "memory:", "postgres:x", "x"]
)
def test_what_is_no_store_is_refused(text):
    with pytest.raises(RequestError, match="write memory, or sqlite:PATH"):
        parse_task_store(text)
