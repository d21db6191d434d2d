import ipaddress
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tau_bridge.a2a.networks import Host, carried, kind_of

EVERY_INTERFACE = ipaddress.IPv4Address(0)

VECTORS = json.loads((Path(__file__).parents[2] / "network_vectors.json").read_bytes())["kinds"]
V4 = st.integers(0, 2**32 - 1).map(ipaddress.IPv4Address)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("8.8.8.8", "public"),
        ("2606:4700::1111", "public"),
        ("127.0.0.1", "loopback"),
        ("127.255.255.254", "loopback"),
        ("::1", "loopback"),
        (str(EVERY_INTERFACE), "loopback"),
        ("::", "loopback"),
        ("0.1.2.3", "reserved"),
        ("10.0.0.1", "private"),
        ("172.15.255.255", "public"),
        ("172.16.0.0", "private"),
        ("172.31.255.255", "private"),
        ("172.32.0.0", "public"),
        ("192.168.1.1", "private"),
        ("100.64.0.1", "private"),
        ("198.18.0.1", "private"),
        ("203.0.113.7", "private"),
        ("fc00::1", "private"),
        ("fec0::1", "private"),
        ("2001:db8::1", "private"),
        ("169.254.1.1", "link-local"),
        ("fe80::1", "link-local"),
        ("169.254.169.254", "metadata"),
        ("169.254.170.2", "metadata"),
        ("100.100.100.200", "metadata"),
        ("168.63.129.16", "metadata"),
        ("192.0.0.192", "metadata"),
        ("fd00:ec2::254", "metadata"),
        ("224.0.0.1", "multicast"),
        ("ff02::1", "multicast"),
        ("255.255.255.255", "reserved"),
        ("240.0.0.1", "reserved"),
        ("2001::1", "reserved"),
        ("64:ff9b:1::a00:1", "reserved"),
        ("100::1", "reserved"),
        ("5f00::1", "reserved"),
    ],
)
def test_each_address_has_its_kind(text: str, kind: str) -> None:
    assert kind_of(ipaddress.ip_address(text)) == kind


@pytest.mark.parametrize("prefix", ["::ffff:", "::ffff:0:", "64:ff9b::", "2002:", "::"])
@given(address=V4.filter(lambda address: int(address) > 0xFFFF))
def test_an_address_inside_another_decides(prefix: str, address: ipaddress.IPv4Address) -> None:
    high, low = divmod(int(address), 2**16)
    rest = f"{high:x}:{low:x}"
    outer = ipaddress.ip_address(f"2002:{rest}::1" if prefix == "2002:" else prefix + rest)
    assert carried(outer) == address
    assert kind_of(outer) == kind_of(address)


@given(st.integers(0, 2**128 - 1).map(ipaddress.IPv6Address))
def test_every_address_has_a_kind(address: ipaddress.IPv6Address) -> None:
    if kind_of(address) == "public" and carried(address) is None:
        assert address in ipaddress.ip_network("2000::/3")


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("127.0.0.1.", "127.0.0.1"),
        ("2130706433", "127.0.0.1"),
        ("0x7f000001", "127.0.0.1"),
        ("0X7F.1", "127.0.0.1"),
        ("017700000001", "127.0.0.1"),
        ("0177.0.0.01", "127.0.0.1"),
        ("127.1", "127.0.0.1"),
        ("169.254.43518", "169.254.169.254"),
        ("0", str(EVERY_INTERFACE)),
        ("0x", str(EVERY_INTERFACE)),
        ("::FFFF:127.0.0.1", "::ffff:127.0.0.1"),
        ("0:0:0:0:0:0:0:1", "::1"),
    ],
)
def test_an_address_is_seen_in_every_notation(text: str, address: str) -> None:
    assert Host.parse(text).address == ipaddress.ip_address(address)


@given(V4)
def test_one_number_is_the_address_that_it_counts(address: ipaddress.IPv4Address) -> None:
    for text in (str(int(address)), hex(int(address)), f"0{int(address):o}"):
        assert Host.parse(text).address == address


@pytest.mark.parametrize(
    "text",
    [
        "",
        ".",
        "a..b",
        "256.1.1.1",
        "1.2.3.4.5",
        "08.0.0.1",
        "1.2.3.0x1ffffffff",
        "example.0x1g.1",
        "4294967296",
        "fe80::1%eth0",
        "::1::",
        "a b",
        "a%41",
        "-a.example",
        "a" * 64,
        ".".join(["a" * 60] * 5),
        "übel.example",
    ],
)
def test_what_is_no_host_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        Host.parse(text)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Agents.Example.", "agents.example"),
        ("a_b.example", "a_b.example"),
        ("xn--bcher-kva.example", "xn--bcher-kva.example"),
        ("1.example", "1.example"),
    ],
)
def test_a_name_is_read_in_one_form(text: str, name: str) -> None:
    assert Host.parse(text) == Host(name=name, address=None)


@pytest.mark.parametrize("address", VECTORS)
def test_an_address_is_of_the_kind_that_the_reference_agent_is_tested_against(address):
    assert kind_of(ipaddress.ip_address(address)) == VECTORS[address]
