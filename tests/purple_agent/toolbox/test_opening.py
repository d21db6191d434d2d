"""How an address becomes tools."""

import pytest

from purple_agent.toolbox.allowed import AllowedHosts
from purple_agent.toolbox.drift import RepairingTools
from purple_agent.toolbox.failures import Cause, Code, EndpointError
from purple_agent.toolbox.mcp_client import McpTools
from purple_agent.toolbox.opening import ToolOpener
from purple_agent.toolbox.places import read_place
from tests.purple_agent.toolbox.servers import LIMITS, called, described


async def code_of(awaited):
    with pytest.raises(EndpointError) as caught:
        await awaited
    return caught.value.code


@pytest.mark.parametrize("ending", ["", "/", "/mcp"])
async def test_a_plain_server_is_found_by_its_base_and_by_its_mcp_address(
    plain, plain_url, opener, ending
):
    plain.tools = [described("get_order", order_id="string"), "junk"]
    opened = await opener(f"{plain_url}{ending}", "s1")
    assert [spec.name for spec in opened.specs] == ["get_order"]
    assert opened.notes == ("Tool 2 of the list was left out: it is not an object.",)
    assert plain.asked == ["GET /mcp/tools?session_id=s1"]
    assert (await opened.tools.call(called("get_order", order_id="1"))).value == {"order_id": "1"}


async def test_an_mcp_server_is_found_by_its_address(mcp_place, opener):
    opened = await opener(mcp_place.url, "s1")
    tools = RepairingTools(opened.tools, specs=opened.specs)
    result = await tools.call(called("peek", orderId="O1"))
    assert result.value["order_id"] == "O1"
    await tools.aclose()


@pytest.mark.parametrize("ending", ["", "/mcp"])
async def test_addresses_without_tools_are_refused_with_a_code(opener, dead_url, ending):
    assert await code_of(opener(f"{dead_url}{ending}", "s")) is Code.UNREACHABLE
    assert await code_of(opener(f"http://169.254.169.254{ending}", "s")) is Code.FORBIDDEN
    assert await code_of(opener(f"gopher://x{ending}", "s")) is Code.ADDRESS


async def test_a_server_that_speaks_neither_way_is_told_of(plain, plain_url, opener):
    assert await code_of(opener(f"{plain_url}/room/mcp", "s")) is Code.PROTOCOL


async def test_a_host_is_reached_at_the_first_of_its_addresses_that_answers(
    plain, plain_url, mcp_place, http
):
    async def resolver(host, port):
        return ["127.0.0.2", "127.0.0.1"]

    opener = ToolOpener(http, hosts=AllowedHosts(["tools"], resolver=resolver), limits=LIMITS)
    plain.tools = [described("get_order", order_id="string")]
    for url in (plain_url, mcp_place.url):
        opened = await opener(url.replace("127.0.0.1", "tools"), "s")
        assert opened.specs
        await opened.tools.aclose()


async def test_an_mcp_server_that_is_not_allowed_any_more_is_not_called(mcp_place):
    turned = iter([["127.0.0.1"]] * 2)

    async def resolver(host, port):
        return next(turned, ["169.254.169.254"])

    hosts = AllowedHosts(["tools"], resolver=resolver)
    place = read_place(mcp_place.url.replace("127.0.0.1", "tools"))
    tools = McpTools(place, hosts=hosts, limits=LIMITS)
    await tools.specs()
    result = await tools.call(called("cancel_order", order_id="O1", reason="x"))
    assert (result.failed, result.cause) == (True, Cause.UNSENT)
    await tools.aclose()
