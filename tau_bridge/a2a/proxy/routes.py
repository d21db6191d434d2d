"""Routes: the proxy's addresses, one for each pair of caller and callee. Pure.

An address is `<origin>/p/<token of the caller>/<callee>/<path>`. The token is the caller's alone,
so a call is known to be its own, whatever the message claims.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import quote, unquote, urlsplit

from tau_bridge.a2a.address import AddressError, AgentAddress, endpoint
from tau_bridge.a2a.faults import TokenRedactor
from tau_bridge.recorder import MAX_NAME_CHARS

_UNQUOTINGS: Final = 3
"""Servers behind servers may each take one layer of percent signs off."""
_TOKEN = re.compile(r"[A-Za-z0-9_-]{16,}")
_RAW_PATH = re.compile(r"[!-~]*")


@dataclass(frozen=True, kw_only=True)
class Peer:
    """An agent behind the proxy."""

    name: str
    address: AgentAddress

    @property
    def base_path(self) -> str:
        """Return the path of its address, without a slash at the end."""
        return urlsplit(self.address.url).path


@dataclass(frozen=True, kw_only=True)
class Route:
    """One caller's way to one callee. `rest` is what follows the callee's name, raw."""

    caller: str
    callee: Peer
    prefix: str = field(repr=False)
    rest: str

    @property
    def path(self) -> str:
        """Return the path at the callee's origin."""
        return self.callee.base_path + self.rest or "/"

    def proxy_url(self, advertised: str) -> str:
        """Return the proxy's address for one that the callee advertises.

        Raises:
            AddressError: It leads to where the proxy does not go: another host or port (by the
                rules of `tau_bridge.a2a.address`; the caller's credentials may go along), or out
                of the path that the callee was given by.
        """
        target = urlsplit(endpoint(self.callee.address, advertised, has_credentials=True))
        base = self.callee.base_path
        rest = target.path.removeprefix(base)
        below = target.path.startswith(base) and (rest == "" or rest.startswith("/"))
        if not below or not _stays_below(rest):
            raise AddressError(f"{target.path!r} is not below {base!r}")
        return self.prefix + rest + (f"?{target.query}" if target.query else "")


class Routes:
    """The addresses of all pairs of peers.

    Raises:
        ValueError: A name, an address or a token is not usable.
    """

    def __init__(self, peers: Mapping[str, str], *, token_of: Callable[[str], str]) -> None:
        self.origin = ""
        """The proxy's own, as in `http://127.0.0.1:1234`; empty until it is known."""
        self.peers = {name: _peer(name, url) for name, url in peers.items()}
        self._tokens = {name: token_of(name) for name in self.peers}
        self._callers = {token: name for name, token in self._tokens.items()}
        usable = all(_TOKEN.fullmatch(token) for token in self._callers)
        if not usable or len(self._callers) < len(self.peers):
            raise ValueError(
                "every token must be another, of 16 letters, digits, '_' and '-' or more"
            )

    def redactor(self) -> TokenRedactor:
        """Return what takes the addresses, and so the tokens, out of texts."""
        return _AddressRedactor(tuple(self._callers), self.peers)

    def url(self, caller: str, callee: str) -> str:
        """Return the address by which `caller` reaches `callee`, with a slash at the end.

        Raises:
            KeyError: One of them is no peer.
        """
        return f"{self._prefix(caller, callee)}/"

    def peers_of(self, caller: str) -> dict[str, str]:
        """Return the addresses by which an agent reaches the others, by their names.

        Raises:
            KeyError: It is no peer.
        """
        return {name: self.url(caller, name) for name in self.peers if name != caller}

    def made_out_to(self, name: str, body: bytes) -> bytes:
        """Return a body in which all addresses of the proxy are those of one agent.

        An agent that passes a text on with the addresses in it would lend them to another.

        Raises:
            KeyError: It is no peer.
        """
        own = self._tokens[name].encode()
        for token in self._callers:
            body = body.replace(b"/p/" + token.encode() + b"/", b"/p/" + own + b"/")
        return body

    def find(self, raw_path: str) -> Route | None:
        """Find the route that a request's path asks for; None without one."""
        head, _, rest = raw_path.removeprefix("/p/").partition("/")
        name, slash, below = rest.partition("/")
        caller, callee = self._callers.get(head), self.peers.get(unquote(name))
        known = raw_path.startswith("/p/") and caller is not None and callee is not None
        if not known or not _stays_below(slash + below):
            return None
        assert caller is not None and callee is not None  # noqa: S101, PT018 - for the type checker
        prefix = self._prefix(caller, callee.name)
        return Route(caller=caller, callee=callee, prefix=prefix, rest=slash + below)

    def unknown_callee(self, raw_path: str) -> tuple[str, str] | None:
        """Return who calls whom by a path of which only the caller is known; None for other paths."""
        head, _, rest = raw_path.removeprefix("/p/").partition("/")
        caller, callee = self._callers.get(head), unquote(rest.partition("/")[0])[:MAX_NAME_CHARS]
        is_ours = raw_path.startswith("/p/") and caller is not None
        if not is_ours or not callee or callee in self.peers:
            return None
        assert caller is not None  # noqa: S101 - for the type checker
        return caller, callee

    def _prefix(self, caller: str, callee: str) -> str:
        name = quote(self.peers[callee].name, safe="")
        return f"{self.origin}/p/{self._tokens[caller]}/{name}"


class _AddressRedactor(TokenRedactor):
    """Puts `peer:<name>` for each address of the proxy, and blots out any token that is left.

    The name in place of the address makes the text of one run equal to that of the next.
    """

    def __init__(self, tokens: tuple[str, ...], peers: Mapping[str, Peer]) -> None:
        super().__init__(*tokens)
        known = "|".join(map(re.escape, tokens))
        self._peers = peers
        self._address = re.compile(rf"http://127\.0\.0\.1:\d+/p/(?:{known})/([\w.~%-]+)/?")

    def __call__(self, text: str) -> str:
        if self._peers and "/p/" in text:
            text = self._address.sub(self._peer_name, text)
        return super().__call__(text)

    def _peer_name(self, found: re.Match[str]) -> str:
        name = unquote(found[1])
        return f"peer:{name}" if name in self._peers else "[redacted]"


def _peer(name: str, url: str) -> Peer:
    if not name or name in (".", "..") or len(name) > MAX_NAME_CHARS:
        raise ValueError(f"{name[:50]!r} cannot be a peer's name: it is empty, dots, or too long")
    return Peer(name=name, address=AgentAddress.parse(url))


def _stays_below(rest: str) -> bool:
    """Tell whether a path stays below where it starts, whatever server reads it."""
    if not _RAW_PATH.fullmatch(rest):
        return False
    for _ in range(_UNQUOTINGS):
        segments = [segment.partition(";")[0] for segment in rest.split("/")[1:]]
        if any(segment in (".", "..") for segment in segments) or "" in segments[:-1]:
            return False
        if "\\" in rest or "\0" in rest:
            return False
        plain = unquote(rest)
        if plain == rest:
            return True
        if plain.count("/") != rest.count("/"):
            return False
        rest = plain
    return False
