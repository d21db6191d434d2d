"""NetworkPolicy: which hosts may be called; Gate: the addresses at which a client calls one.

A URL that a request names is not to be trusted. Before anything is sent, its host is looked up
once, *every* address that it leads to must be allowed, and the connection goes to one of exactly
these: a name that leads elsewhere a moment later (rebinding) gains nothing.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial

import httpx

from tau_bridge.a2a.networks import (
    METADATA_NAMES,
    AddressKind,
    Host,
    IPAddress,
    IPNetwork,
    carried,
    kind_of,
)
from tau_bridge.errors import AgentForbiddenError

Resolver = Callable[[str, int], Awaitable[Sequence[str]]]
"""Looks up a host name and a port; gives the addresses, or raises OSError."""

DEFAULT_PORTS = {"http": 80, "https": 443}
ALLOWED_HOSTS_SETTING = "GREENROOM_ALLOWED_HOSTS"
_MAX_ADDRESSES = 8
_MAX_LOOK_UPS = 16

_WORDS: dict[AddressKind, str] = {
    "private": "an address of a private network",
    "loopback": "an address of the assessor's own machine",
    "link-local": "a link-local address",
    "metadata": "the metadata service of a cloud",
    "multicast": "a multicast address",
    "reserved": "a reserved address",
}


async def system_resolver(host: str, port: int) -> tuple[str, ...]:
    """Return the addresses that the operating system finds, in its order, each once."""
    look_up = partial(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
    found = await asyncio.get_running_loop().run_in_executor(_look_ups(), look_up)
    return tuple(dict.fromkeys(str(entry[4][0]) for entry in found))


@cache
def _look_ups() -> ThreadPoolExecutor:
    # A name whose server is silent holds its thread for half a minute. In threads of their own,
    # such names hold up nothing but other look-ups.
    return ThreadPoolExecutor(_MAX_LOOK_UPS, thread_name_prefix="look-up")


@dataclass(frozen=True, kw_only=True)
class NetworkPolicy:
    """The addresses that may be called. Public ones always may.

    Link-local, multicast and reserved addresses and the metadata services of clouds are refused
    under every policy, unless `allowed` has the address itself: a network that they are in is not
    enough, for a large one is not allowed for their sake.

    Args:
        loopback: Whether this machine may be called (0.0.0.0 and :: mean it too).
        private: Whether private networks may be called.
        allowed: What else may be called: names, addresses, networks (10.1.0.0/16), each but the
            last with a port or for all ports (agents.example:8080, [::1]:9000). A name allows the
            private and loopback addresses that it leads to, and no others.

    Raises:
        ValueError: An entry of `allowed` is not one of these.
    """

    loopback: bool
    private: bool
    allowed: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _rules(self.allowed)

    @classmethod
    def open(cls, *, allowed: Iterable[str] = ()) -> NetworkPolicy:
        """Return the policy of the command line: users name addresses on their own networks."""
        return cls(loopback=True, private=True, allowed=tuple(allowed))

    @classmethod
    def public(cls, *, allowed: Iterable[str] = ()) -> NetworkPolicy:
        """Return the policy of a public server: public addresses, and what is configured."""
        return cls(loopback=False, private=False, allowed=tuple(allowed))

    def allowing(self, url: str) -> NetworkPolicy:
        """Return this policy, with the host and the port of `url` allowed too.

        For agents that the assessor itself started. Never for what a request names.

        Raises:
            AgentForbiddenError: `url` is not an http or https address.
        """
        return replace(self, allowed=(*self.allowed, _Endpoint.parse(url).host_and_port))

    def check_url(self, url: str) -> None:
        """Check what can be seen without looking up the name.

        Raises:
            AgentForbiddenError: `url` is not an http or https address of a host, carries a user
                name, or its host is not allowed.
        """
        endpoint = _Endpoint.parse(url)
        self._check_host(endpoint)
        if endpoint.host.address is not None:
            self._check_address(endpoint, endpoint.host.address)

    async def resolve(
        self,
        host: str,
        port: int,
        *,
        resolver: Resolver = system_resolver,
        url: str | None = None,
    ) -> tuple[str, ...]:
        """Return the addresses of a host, up to 8, all of them allowed. Looks the name up once.

        Args:
            host: A name or an address, in ASCII; an IPv6 address without brackets.
            port: The port that will be called.
            resolver: Looks up names. Not asked about what is an address already.
            url: What the error names; host and port by default.

        Raises:
            AgentForbiddenError: The host, or one of its addresses, is not allowed.
            OSError: The name cannot be looked up.
        """
        endpoint = _Endpoint.of(host, port, url=url or f"{host}:{port}")
        self._check_host(endpoint)
        if endpoint.host.address is not None:
            addresses: tuple[IPAddress, ...] = (endpoint.host.address,)
        else:
            addresses = _read_addresses(await resolver(endpoint.host.name, port))
        for address in addresses:
            self._check_address(endpoint, address)
        return tuple(map(str, addresses[:_MAX_ADDRESSES]))

    def _check_host(self, endpoint: _Endpoint) -> None:
        host = endpoint.host
        if self._allows_name(endpoint):
            return
        if host.name in METADATA_NAMES:
            raise endpoint.forbidden(f"its host is {_WORDS['metadata']}", host.name)
        if host.is_this_machine and not self.loopback:
            raise endpoint.forbidden(
                "its host is the assessor's own machine", endpoint.host_and_port
            )

    def _check_address(self, endpoint: _Endpoint, address: IPAddress) -> None:
        kind = kind_of(address)
        is_inside = kind in ("loopback", "private")
        named = is_inside and (
            self._allows_name(endpoint) or (self.loopback if kind == "loopback" else self.private)
        )
        if kind == "public" or named or self._allows_address(address, endpoint.port, is_inside):
            return
        leads = "is" if endpoint.host.address is not None else "leads to"
        lifts = endpoint.host_and_port if is_inside else "that very address"
        raise endpoint.forbidden(f"its host {leads} {_WORDS[kind]}", lifts)

    def _allows_name(self, endpoint: _Endpoint) -> bool:
        return any(
            rule.name == endpoint.host.name and rule.port in (None, endpoint.port)
            for rule in _rules(self.allowed)
        )

    def _allows_address(self, address: IPAddress, port: int, by_network: bool) -> bool:
        inner = carried(address)
        return any(
            rule.network is not None
            and (by_network or rule.network.num_addresses == 1)
            and (address in rule.network or (inner is not None and inner in rule.network))
            and rule.port in (None, port)
            for rule in _rules(self.allowed)
        )


class Gate:
    """Looks each host up once for one client, and keeps what it found."""

    def __init__(self, policy: NetworkPolicy, *, resolver: Resolver = system_resolver) -> None:
        self._policy = policy
        self._resolver = resolver
        self._addresses: dict[tuple[str, int], tuple[str, ...]] = {}

    async def addresses(self, host: str, port: int, *, url: str) -> tuple[str, ...]:
        """Return the allowed addresses of a host, the one that answered last first.

        A host that is called by another port keeps the addresses that it had, and is checked
        again, because a port may be what is allowed.

        Raises:
            AgentForbiddenError: The host, or one of its addresses, is not allowed.
            OSError: The name cannot be looked up. The next call tries again.
        """
        known = self._addresses.get((host, port))
        if known is None:
            known = await self._policy.resolve(host, port, resolver=self._resolve_name, url=url)
            known = self._addresses.setdefault((host, port), known)
        return known

    def prefer(self, host: str, port: int, address: str) -> None:
        """Remember that this one of the host's addresses can be reached."""
        known = self._addresses[host, port]
        self._addresses[host, port] = (address, *(one for one in known if one != address))

    async def _resolve_name(self, name: str, port: int) -> Sequence[str]:
        for (known, _), addresses in self._addresses.items():
            if known == name:
                return addresses
        return await self._resolver(name, port)


@dataclass(frozen=True, kw_only=True)
class _Rule:
    """An entry of `allowed`: a name, or a network; for one port, or for all."""

    name: str | None
    network: IPNetwork | None
    port: int | None


@dataclass(frozen=True, kw_only=True)
class _Endpoint:
    """A host and a port that are going to be called. `url` may be shown."""

    url: str
    host: Host
    port: int

    @classmethod
    def parse(cls, url: str) -> _Endpoint:
        shown = url.rpartition("@")[2]
        try:
            parsed = httpx.URL(url)
        except (httpx.InvalidURL, ValueError) as exc:
            raise AgentForbiddenError(shown, f"{shown!r} is not an address: {exc}") from None
        usual = DEFAULT_PORTS.get(parsed.scheme, 0)
        port = usual if parsed.port is None else parsed.port
        if not usual or not parsed.raw_host or not 0 < port < 65536:
            raise AgentForbiddenError(
                shown, f"{shown!r} is not an http:// or https:// address with a host"
            )
        if parsed.userinfo or "@" in url.partition("?")[0].partition("#")[0].split("/")[2]:
            raise AgentForbiddenError(
                shown, f"the address {shown!r} must come without a user name and a password"
            )
        return cls.of(parsed.raw_host.decode("ascii"), port, url=url)

    @classmethod
    def of(cls, host: str, port: int, *, url: str) -> _Endpoint:
        try:
            return cls(url=url, host=Host.parse(host), port=port)
        except ValueError as exc:
            raise AgentForbiddenError(
                url, f"{url!r} may not be called: {host!r} cannot be its host: {exc}"
            ) from None

    @property
    def host_and_port(self) -> str:
        """Return host and port, as an entry of `allowed` has them."""
        host = f"[{self.host.name}]" if ":" in self.host.name else self.host.name
        return f"{host}:{self.port}"

    def forbidden(self, why: str, lifts: str) -> AgentForbiddenError:
        entry = repr(lifts) if lifts != "that very address" else lifts
        msg = (
            f"{self.url!r} may not be called, because {why}; to allow it, the operator of the"
            f" assessor adds {entry} to {ALLOWED_HOSTS_SETTING}"
        )
        return AgentForbiddenError(self.url, msg)


def _read_addresses(found: Sequence[str]) -> tuple[IPAddress, ...]:
    """Parse the addresses that a resolver found, without the zones of link-local ones.

    Raises:
        OSError: Nothing was found, or something that is not an address.
    """
    try:
        addresses = tuple(ipaddress.ip_address(text.partition("%")[0]) for text in found)
    except ValueError as exc:
        raise OSError(f"the name leads to what is not an address: {exc}") from exc
    if not addresses:
        raise OSError("the name leads to no address")
    return addresses


@lru_cache(maxsize=256)
def _rules(allowed: tuple[str, ...]) -> tuple[_Rule, ...]:
    return tuple(map(_read_rule, allowed))


def _read_rule(entry: str) -> _Rule:
    """Parse an entry of `allowed`.

    Raises:
        ValueError: It is not a valid entry.
    """
    text = entry.strip()
    try:
        if "/" in text:
            return _Rule(name=None, network=ipaddress.ip_network(text, strict=False), port=None)
        name, port = _split_port(text)
        host = Host.parse(name)
    except ValueError as exc:
        raise ValueError(
            f"{entry!r} is not a host that can be allowed ({exc}); give a name, an address, a"
            " network such as 10.1.0.0/16, or one of the first two with a port"
        ) from None
    if host.address is None:
        return _Rule(name=host.name, network=None, port=port)
    return _Rule(name=None, network=ipaddress.ip_network(host.address), port=port)


def _split_port(text: str) -> tuple[str, int | None]:
    if text.startswith("["):
        name, _, rest = text[1:].partition("]")
        if rest and not rest.startswith(":"):
            raise ValueError("what follows the bracket is not a port")
        return name, _port(rest[1:]) if rest else None
    name, colon, port = text.partition(":")
    if not colon or ":" in port:
        return text, None
    return name, _port(port)


def _port(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or not 0 < int(text[:6]) < 65536:
        raise ValueError(f"{text!r} is not a port")
    return int(text)
