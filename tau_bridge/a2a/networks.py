"""Hosts and addresses: names, literal addresses in any notation, and their kinds.

Pure. The table follows the special-purpose registries of IANA and the metadata services of the
cloud providers. The standard library's `is_private` and `is_global` change from one Python to the
next, and know no metadata services.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import Literal
from urllib.parse import urlsplit

IPAddress = IPv4Address | IPv6Address
IPNetwork = IPv4Network | IPv6Network

AddressKind = Literal[
    "public", "private", "loopback", "link-local", "metadata", "multicast", "reserved"
]

METADATA_NAMES = frozenset(
    {
        "instance-data",
        "instance-data.ec2.internal",
        "metadata",
        "metadata.azure.internal",
        "metadata.goog",
        "metadata.google.internal",
        "metadata.oraclecloud.com",
    }
)
"""Names by which cloud machines find the service that hands out their credentials."""

_KINDS: tuple[tuple[str, AddressKind], ...] = (
    # The first match counts, so the metadata services come before the networks they are in.
    ("100.100.100.200/32", "metadata"),
    ("168.63.129.16/32", "metadata"),
    ("169.254.169.254/32", "metadata"),
    ("169.254.170.2/32", "metadata"),
    ("192.0.0.192/32", "metadata"),
    ("fd00:42::42/128", "metadata"),
    ("fd00:c1::a9fe:a9fe/128", "metadata"),
    ("fd00:ec2::/32", "metadata"),
    ("fd20:ce::254/128", "metadata"),
    # A connection to "every interface" reaches this machine.
    ("0.0.0.0/32", "loopback"),
    ("127.0.0.0/8", "loopback"),
    ("::/127", "loopback"),
    ("169.254.0.0/16", "link-local"),
    ("fe80::/10", "link-local"),
    ("224.0.0.0/4", "multicast"),
    ("ff00::/8", "multicast"),
    ("10.0.0.0/8", "private"),
    ("100.64.0.0/10", "private"),
    ("172.16.0.0/12", "private"),
    ("192.0.2.0/24", "private"),
    ("192.168.0.0/16", "private"),
    ("198.18.0.0/15", "private"),
    ("198.51.100.0/24", "private"),
    ("203.0.113.0/24", "private"),
    ("2001:db8::/32", "private"),
    ("3fff::/20", "private"),
    ("fc00::/7", "private"),
    ("fec0::/10", "private"),
    ("0.0.0.0/8", "reserved"),
    ("192.0.0.0/24", "reserved"),
    ("192.88.99.0/24", "reserved"),
    ("240.0.0.0/4", "reserved"),
    ("2001::/23", "reserved"),
    ("0.0.0.0/0", "public"),
    ("2000::/3", "public"),
    ("::/0", "reserved"),
)
_NETWORKS: tuple[tuple[IPNetwork, AddressKind], ...] = tuple(
    (ipaddress.ip_network(text), kind) for text, kind in _KINDS
)

# Networks of IPv6 addresses that hold an IPv4 address, and how far from the right it stands.
_CARRIERS: tuple[tuple[IPv6Network, int], ...] = (
    (IPv6Network("::ffff:0:0/96"), 0),
    (IPv6Network("::ffff:0:0:0/96"), 0),
    (IPv6Network("64:ff9b::/96"), 0),
    (IPv6Network("2002::/16"), 80),
    (IPv6Network("::/96"), 0),
)
_MAX_NAME = 253
_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"0x[0-9a-f]*|[0-9]+")


def kind_of(address: IPAddress) -> AddressKind:
    """Return the kind of an address; one that carries an IPv4 address is of that one's kind."""
    inner = carried(address)
    seen: IPAddress = address if inner is None else inner
    return next(kind for network, kind in _NETWORKS if seen in network)


def carried(address: IPAddress) -> IPv4Address | None:
    """Return the IPv4 address inside a mapped, translated or 6to4 IPv6 address."""
    if isinstance(address, IPv4Address) or int(address) <= 1:
        return None
    for network, shift in _CARRIERS:
        if address in network:
            return IPv4Address(int(address) >> shift & 0xFFFFFFFF)
    return None


@dataclass(frozen=True, kw_only=True)
class Host:
    """A host as a URL names it: in lower case, and without the dot of the root at its end.

    `address` is set where the name is no name but an address, in whatever notation.
    """

    name: str
    address: IPAddress | None

    @property
    def is_this_machine(self) -> bool:
        """Tell whether the name is one that always means the machine itself."""
        return self.name == "localhost" or self.name.endswith(".localhost")

    @classmethod
    def parse(cls, text: str) -> Host:
        """Parse the host in `text`: ASCII, an IPv6 address without its brackets.

        Raises:
            ValueError: It is neither a name nor an address.
        """
        name = text.lower().removesuffix(".")
        if ":" in name:
            if "%" in name:
                raise ValueError("an address with a zone belongs to one machine only")
            address: IPAddress = IPv6Address(name)
            return cls(name=str(address), address=address)
        labels = name.split(".")
        if len(name) > _MAX_NAME or not all(map(_LABEL.fullmatch, labels)):
            raise ValueError("it is not the name of a host")
        if _NUMBER.fullmatch(labels[-1]):
            address = _read_ipv4(name)
            return cls(name=str(address), address=address)
        return cls(name=name, address=None)


def _read_ipv4(text: str) -> IPv4Address:
    """Parse an IPv4 address as the operating system does: 127.0.0.1, 127.1, 0x7f000001, 0177.0.0.1.

    Raises:
        ValueError: It is not an address.
    """
    # Browsers and some systems read a bare 0x as 0.
    text = re.sub(r"\b0x(?=\.|$)", "0x0", text)
    try:
        return IPv4Address(socket.inet_aton(text))
    except OSError:
        raise ValueError("it looks like an address, but is none") from None


def is_on_this_machine(url: str) -> bool:
    """Tell by its address alone whether a URL is served on this machine."""
    try:
        return is_this_machine(urlsplit(url).hostname or "")
    except ValueError:
        return False


def is_this_machine(host: str) -> bool:
    """Tell whether a host, by its name or address alone, means the machine itself."""
    try:
        parsed = Host.parse(host)
    except ValueError:
        return False
    is_loopback = parsed.address is not None and kind_of(parsed.address) == "loopback"
    return parsed.is_this_machine or is_loopback
