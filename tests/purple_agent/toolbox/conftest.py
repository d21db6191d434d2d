"""Tool servers over real HTTP, and ways to them."""

from collections.abc import Iterator

import pytest

from purple_agent.toolbox.allowed import AllowedHosts
from purple_agent.toolbox.exchange import new_http_client
from purple_agent.toolbox.http import HttpTools
from purple_agent.toolbox.limits import ToolLimits
from purple_agent.toolbox.opening import ToolOpener
from purple_agent.toolbox.places import read_place
from tests.fakes.serving import closed_port, serve
from tests.purple_agent.toolbox.servers import LIMITS, McpPlace, PlainServer, serving_mcp


@pytest.fixture(scope="session")
def plain_place() -> Iterator[tuple[PlainServer, str]]:
    server = PlainServer()
    with serve(server) as url:
        yield server, url


@pytest.fixture
def plain(plain_place: tuple[PlainServer, str]) -> PlainServer:
    """The plain server, as new."""
    vars(plain_place[0]).update(vars(PlainServer()))
    return plain_place[0]


@pytest.fixture
def plain_url(plain: PlainServer, plain_place: tuple[PlainServer, str]) -> str:
    return plain_place[1]


@pytest.fixture(scope="session")
def dead_url() -> Iterator[str]:
    with closed_port() as url:
        yield url


@pytest.fixture
async def http():
    async with new_http_client() as client:
        yield client


@pytest.fixture
def opener(http):
    return ToolOpener(http, hosts=AllowedHosts(), limits=LIMITS)


@pytest.fixture
def plain_tools(http, plain_url):
    """Makes the tools at the plain server."""

    def make(limits: ToolLimits = LIMITS, url: str = plain_url) -> HttpTools:
        return HttpTools(
            read_place(url), session_id="s 1", http=http, hosts=AllowedHosts(), limits=limits
        )

    return make


@pytest.fixture(scope="session")
def mcp_place() -> Iterator[McpPlace]:
    with serving_mcp() as place:
        yield place
