"""AllowedHosts: the hosts whose tools may be called, and the addresses to connect to.

Allowed are this machine and the hosts that the operator lists. A name is resolved only if it is
allowed, and the connection goes to a checked address, which prevents DNS rebinding.
"""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import Awaitable, Callable, Iterable, Sequence
from ipaddress import IPv4Address

from purple_agent.errors import UsageError
from purple_agent.toolbox.failures import Code, EndpointError
from purple_agent.toolbox.places import IPAddress, Place, read_address, read_host, read_port

Resolver = Callable[[str, int], Awaitable[Sequence[str]]]
"""Returns the addresses of a name, for connections to a port.

Raises:
    OSError: There are none.
"""

MAX_ADDRESSES = 8
_BRACKETED = re.compile(r"\[([^\[\]]+)\](?::([0-9]+))?")
_HERE = ("127.0.0.1", "::1")


async def system_resolver(host: str, port: int) -> Sequence[str]:
    """Resolve a name with the operating system.

    Raises:
        OSError: The name has no addresses.
    """
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(place[0]) for *_, place in found]


class AllowedHosts:
    """Checks hosts and resolves names.

    Args:
        hosts: Allowed hosts besides this machine, as `name`, `name:port` or an address.
        resolver: Resolves names.

    Raises:
        UsageError: One of `hosts` is invalid.
    """

    def __init__(self, hosts: Iterable[str] = (), *, resolver: Resolver = system_resolver) -> None:
        self._listed = frozenset(map(_read_entry, hosts))
        self._resolver = resolver

    def check(self, place: Place) -> None:
        """Check by its URL that a place may be called.

        Raises:
            EndpointError: It may not be called.
        """
        if not place.is_this_machine and not self._lists(place):
            raise _forbidden(place, "its host is not one of those that tools may be called at")

    async def addresses(self, place: Place) -> tuple[str, ...]:
        """Return the addresses to connect to for a place, at least one.

        Raises:
            EndpointError: It may not be called, or its name cannot be resolved.
        """
        self.check(place)
        if place.address is not None:
            # Connecting to "every interface" does not work on all systems.
            if place.address.is_unspecified:
                return (_HERE[0] if isinstance(place.address, IPv4Address) else _HERE[1],)
            return (str(place.address),)
        if place.is_this_machine:
            return _HERE
        return await self._looked_up(place)

    async def _looked_up(self, place: Place) -> tuple[str, ...]:
        try:
            found = await self._resolver(place.host, place.port)
            addresses = dict.fromkeys(map(read_address, found))
        except (OSError, ValueError) as exc:
            raise EndpointError(
                Code.UNREACHABLE, f"the host of the tools, {place.host!r}, is not known"
            ) from exc
        kept = [str(address) for address in addresses if _is_callable(address)]
        if not kept:
            raise _forbidden(place, "its name leads to an address that may not be called")
        return tuple(kept[:MAX_ADDRESSES])

    def _lists(self, place: Place) -> bool:
        return not self._listed.isdisjoint({(place.host, None), (place.host, place.port)})


def _is_callable(address: IPAddress) -> bool:
    """Tell whether a name may resolve to it: not to cloud metadata services (link-local)."""
    return not (address.is_link_local or address.is_multicast or address.is_unspecified)


def _read_entry(text: str) -> tuple[str, int | None]:
    """Read a host that the operator lists, and its port or None."""
    bracketed = _BRACKETED.fullmatch(text)
    host, port = text, ""
    if bracketed:
        host, port = bracketed[1], bracketed[2] or ""
    elif text.count(":") == 1:
        host, _, port = text.partition(":")
    try:
        return read_host(host)[0], read_port(port)
    except ValueError as exc:
        raise UsageError(
            f"a host of tools must be `name` or `name:port`, got {text!r}: {exc}"
        ) from exc


def _forbidden(place: Place, why: str) -> EndpointError:
    shown = place.netloc[:100]
    return EndpointError(Code.FORBIDDEN, f"the tools at {shown!r} may not be called: {why}")
