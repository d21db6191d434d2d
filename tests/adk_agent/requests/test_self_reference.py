"""A service that is asked to assess itself."""

import pytest

from adk_agent.requests.self_reference import itself_among

pytestmark = pytest.mark.usefixtures("quick_start")


@pytest.mark.parametrize(
    "same",
    ["http://127.1:8000", "http://0x7f000001:8000/", "http://2130706433:8000", "http://[::1]:8000"],
)
def test_the_service_knows_itself_in_every_notation(make_plan, same):
    assert itself_among(make_plan(same), ["http://127.0.0.1:8000/"]) is not None
