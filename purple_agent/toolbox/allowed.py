"""AllowedHosts: which hosts tools may be called at, and the addresses to connect to.

Allowed are the machine itself and the hosts that the operator lists. A name is looked up only once
it is known to be allowed, and the connection goes to an address that was checked, so that a name
that changes its mind in between gains nothing.
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
"""The addresses of a name, for connections to a port.

Raises:
    OSError: there are none.
"""

MAX_ADDRESSES = 8
_BRACKETED = re.compile(r"\[([^\[\]]+)\](?::([0-9]+))?")
_HERE = ("127.0.0.1", "::1")


async def system_resolver(host: str, port: int) -> Sequence[str]:
    """Look up the addresses that the operating system knows for a name.

    Raises:
        OSError: it knows none.
    """
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(place[0]) for *_, place in found]


class AllowedHosts:
    """The rule, and the look-up of names.

    Args:
        hosts: `name`, `name:port` or an address, beside the machine itself.
        resolver: Looks up names.

    Raises:
        UsageError: One of `hosts` is none of these.
    """

    def __init__(self, hosts: Iterable[str] = (), *, resolver: Resolver = system_resolver) -> None:
        self._listed = frozenset(map(_read_entry, hosts))
        self._resolver = resolver

    def check(self, place: Place) -> None:
        """Check whether a place may be called, as far as its URL tells.

        Raises:
            EndpointError: It may not.
        """
        if not place.is_this_machine and not self._lists(place):
            raise _forbidden(place, "its host is not one of those that tools may be called at")

    async def addresses(self, place: Place) -> tuple[str, ...]:
        """Return the addresses to connect to for a place, at least one.

        Raises:
            EndpointError: It may not be called, or its name is not known.
        """
        self.check(place)
        if place.address is not None:
            # "Every interface" is no address to connect to everywhere.
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
    """Return whether a name may lead there: not to cloud metadata services, which are link-local."""
    return not (address.is_link_local or address.is_multicast or address.is_unspecified)


def _read_entry(text: str) -> tuple[str, int | None]:
    """Read a host that the operator lists, and its port where only one is meant."""
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
