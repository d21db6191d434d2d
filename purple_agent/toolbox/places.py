"""Places: URLs parsed once, so that no two parsers can disagree."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from urllib.parse import urlsplit

from purple_agent.toolbox.failures import Code, EndpointError

IPAddress = IPv4Address | IPv6Address
PORTS = {"http": 80, "https": 443}

_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"0x[0-9a-f]*|[0-9]+")
_VISIBLE = re.compile(r"[!-\[\]-~]+")  # ASCII without spaces and backslashes
_MAX_URL = 2_000
_MAX_NAME = 253


@dataclass(frozen=True, kw_only=True)
class Place:
    """The parts of an http(s) URL, without credentials and fragment.

    `host` is in lower case and without brackets; `address` is set if the host is an IP address.
    """

    scheme: str
    host: str
    port: int
    path: str
    query: str
    address: IPAddress | None

    @property
    def netloc(self) -> str:
        """Return host and port as in the `Host` header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def is_this_machine(self) -> bool:
        """Tell whether the host always means this machine."""
        if self.address is not None:
            return self.address.is_loopback or self.address.is_unspecified
        return self.host == "localhost" or self.host.endswith(".localhost")

    def url(self, *, path: str | None = None, query: str | None = None) -> str:
        """Return the URL, with another path or query if given."""
        asked = self.query if query is None else query
        where = f"{self.scheme}://{self.netloc}{self.path if path is None else path}"
        return f"{where}?{asked}" if asked else where


def read_place(url: str) -> Place:
    """Parse a URL.

    Raises:
        EndpointError: It is not an http(s) address of a host, or has credentials.
    """
    if len(url) > _MAX_URL or not _VISIBLE.fullmatch(url):
        raise _wrong("it is too long or has invalid characters")
    try:
        parts = urlsplit(url)
        port = parts.port
        host, address = read_host(parts.hostname or "")
    except ValueError:
        raise _wrong("its host or its port cannot be read") from None
    if parts.scheme not in PORTS:
        raise _wrong("it must begin with http:// or https://")
    if "@" in parts.netloc:
        raise _wrong("it must not contain credentials")
    if port == 0:
        raise _wrong("its port cannot be 0")
    return Place(
        scheme=parts.scheme,
        host=host,
        port=port or PORTS[parts.scheme],
        path=parts.path or "/",
        query=parts.query,
        address=address,
    )


def read_host(text: str) -> tuple[str, IPAddress | None]:
    """Return a host's name in lower case, and its address if the name is one.

    Raises:
        ValueError: It is neither a name nor an address in its usual notation.
    """
    name = text.lower().removesuffix(".")
    if ":" in name or _NUMBER.fullmatch(name.rpartition(".")[2]):
        # Some resolvers accept `2130706433`, `0x7f.1` and zones, which are never needed.
        if "%" in name:
            raise ValueError("an address with a zone belongs to one machine only")
        address = read_address(name)
        return str(address), address
    if len(name) > _MAX_NAME or not all(map(_LABEL.fullmatch, name.split("."))):
        raise ValueError("it is not the name of a host")
    return name, None


def read_port(text: str) -> int | None:
    """Parse a port; None for an empty text.

    Raises:
        ValueError: It is not a port.
    """
    if text and not (text.isascii() and text.isdigit() and 1 <= int(text[:6]) <= 65535):
        raise ValueError("its port is not a number from 1 to 65535")
    return int(text) if text else None


def read_address(text: str) -> IPAddress:
    """Parse an IP address; an IPv4-mapped IPv6 address becomes the IPv4 address.

    Raises:
        ValueError: It is not an IP address.
    """
    address = ipaddress.ip_address(text.partition("%")[0])
    return address.ipv4_mapped or address if isinstance(address, IPv6Address) else address


def _wrong(why: str) -> EndpointError:
    return EndpointError(Code.ADDRESS, f"the address of the tools cannot be used: {why}")
