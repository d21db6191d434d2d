"""Which clusters are connected to."""

import pytest

from adk_agent.core.errors import PreflightError, RequestError
from adk_agent.play.executors.cluster import connected
from tests.fakes import closed_port


@pytest.mark.extras
@pytest.mark.parametrize("address", ["ray://10.0.0.1:10001", "auto", "10.0.0.1:", ":6379"])
async def test_what_is_no_address_of_a_head_is_refused(address):
    pytest.importorskip("ray")
    with pytest.raises(RequestError, match="is not host:port"):
        async with connected(address):
            pytest.fail("it connected")


@pytest.mark.extras
async def test_a_cluster_that_does_not_answer_ends_the_run_before_it_begins():
    pytest.importorskip("ray")
    with closed_port() as url:
        address = url.removeprefix("http://")
        with pytest.raises(PreflightError, match=f"does not answer at '{address}'"):
            async with connected(address):
                pytest.fail("it connected")
