"""Which addresses of tools may be called, however they are written."""

import json
from pathlib import Path

import pytest

from purple_agent.errors import UsageError
from purple_agent.toolbox.allowed import AllowedHosts, system_resolver
from purple_agent.toolbox.failures import Code, EndpointError
from purple_agent.toolbox.places import read_place

VECTORS = json.loads((Path(__file__).parents[2] / "network_vectors.json").read_bytes())["kinds"]
LOOKED_UP = {
    "tools": ["10.0.0.7"],
    "turns": ["169.254.169.254"],
    "half": ["fe80::1", "10.0.0.8", "10.0.0.8"],
    "mapped": ["::ffff:169.254.169.254"],
    "nothing": [],
}


async def resolver(host, port):
    if host not in LOOKED_UP:
        raise OSError("no such name")
    return LOOKED_UP[host]


async def reached(url, *hosts):
    """The addresses that a URL may be called at, or the code of the refusal."""
    try:
        return await AllowedHosts(hosts, resolver=resolver).addresses(read_place(url))
    except EndpointError as error:
        return error.code


@pytest.mark.parametrize(
    ("url", "addresses"),
    [
        ("http://127.0.0.1:9/x", ("127.0.0.1",)),
        ("http://127.9.9.9", ("127.9.9.9",)),
        ("http://0.0.0.0:8/", ("127.0.0.1",)),
        ("http://[::1]/", ("::1",)),
        ("http://[::]/", ("::1",)),
        ("http://[::ffff:127.0.0.1]/", ("127.0.0.1",)),
        ("https://LOCALHOST./", ("127.0.0.1", "::1")),
        ("http://a.localhost/", ("127.0.0.1", "::1")),
    ],
)
async def test_the_machine_itself_is_allowed(url, addresses):
    assert await reached(url) == addresses


@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/latest",
        "http://10.0.0.7/",
        "http://8.8.8.8/",
        "http://[::ffff:10.0.0.7]/",
        "http://[64:ff9b::7f00:1]/",
        "http://tools/",
        "http://localhost.example.com/",
        "http://127.0.0.1.example.com/",
    ],
)
async def test_every_other_host_is_forbidden_and_not_even_looked_up(url):
    assert await reached(url) is Code.FORBIDDEN


@pytest.mark.parametrize(
    "url",
    [
        "ftp://127.0.0.1/",
        "file:///etc/passwd",
        "//127.0.0.1/",
        "127.0.0.1:80",
        "http://",
        "http://me:secret@127.0.0.1/",
        "http://127.0.0.1:0/",
        "http://127.0.0.1:99999/",
        "http://127.0.0.1:x/",
        "http://127.0.0.1\\@example.com/",
        "http://127.0.0.1 /",
        "http://127.0.0.1/\r\nHost: x",
        "http://[fe80::1%25eth0]/",
        "http://1.2.3.4.5/",
        "http://256.1.1.1/",
        "http://2852039166/",
        "http://2130706433/",
        "http://0xa9fea9fe/",
        "http://0x7f.1/",
        "http://0177.0.0.1/",
        "http://exämple/",
        "http://a..b/",
        f"http://127.0.0.1/{'x' * 3000}",
    ],
)
async def test_what_is_no_address_of_a_host_is_refused(url):
    assert await reached(url) is Code.ADDRESS


@pytest.mark.parametrize("address", VECTORS)
async def test_only_loopback_addresses_are_allowed_unless_listed(address):
    host = f"[{address}]" if ":" in address else address
    found = await reached(f"http://{host}/")
    assert (found == (address,)) is (VECTORS[address] == "loopback")
    assert found == (address,) or found is Code.FORBIDDEN


async def test_a_listed_name_is_allowed_at_the_addresses_that_it_has():
    assert await reached("http://Tools:81/mcp", "tools") == ("10.0.0.7",)
    assert await reached("http://10.0.0.7/", "10.0.0.7") == ("10.0.0.7",)
    assert await reached("http://[fd01::1]:8080/", "[fd01::1]:8080") == ("fd01::1",)


async def test_a_port_that_is_listed_is_the_only_one():
    assert await reached("http://tools:81/", "tools:81") == ("10.0.0.7",)
    assert await reached("http://tools:82/", "tools:81") is Code.FORBIDDEN


@pytest.mark.parametrize("name", ["turns", "mapped", "nothing"])
async def test_a_listed_name_never_leads_to_a_service_with_credentials(name):
    assert await reached(f"http://{name}/", name) is Code.FORBIDDEN


async def test_of_the_addresses_of_a_name_those_that_may_be_called_are_kept_once():
    assert await reached("http://half/", "half") == ("10.0.0.8",)


async def test_a_listed_name_that_nobody_knows_cannot_be_reached():
    assert await reached("http://gone/", "gone") is Code.UNREACHABLE


async def test_the_system_knows_the_machine_itself():
    assert "127.0.0.1" in await system_resolver("localhost", 80)


@pytest.mark.parametrize("entry", ["a b", "tools:x", "tools:70000", "http://tools", "[::1", ""])
def test_a_list_of_hosts_with_something_else_in_it_is_refused(entry):
    with pytest.raises(UsageError, match="must be"):
        AllowedHosts([entry])
