"""Addresses of agents: the one that the user gave, and the ones that the agent's card advertises.

A card is written by the agent, so its addresses are advice. `endpoint` follows them only as far
as a careful user would:

- the same origin (scheme, host, port) as the address given: followed;
- a host that means "this machine" (`localhost`, `127.0.0.0/8`, `::1`) or "every interface"
  (`0.0.0.0`, `::`): the agent does not know how it is reached (a container, a proxy), so the origin
  given by the user stays and only the path is taken, below the path given by the user;
- the same host by another port or scheme: followed, unless that would give up TLS (the origin given
  stays, as behind a proxy that ends TLS), or carry credentials to another port (refused);
- any other host: refused. Otherwise the author of a card could aim the assessor at a third party.

gRPC has no paths and is usually served by another port, so `grpc_endpoint` takes the port that the
card names; the rest is as above. TLS is never given up.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit, urlunsplit

from tau_bridge.a2a.networks import is_this_machine

WELL_KNOWN_CARD_PATH = "/.well-known/agent-card.json"
_DEFAULT_PORTS = {"http": 80, "https": 443}


class AddressError(ValueError):
    """Not an address at which an agent can be reached."""


@dataclass(frozen=True, kw_only=True)
class AgentAddress:
    """The base address of an agent.

    `url` has no credentials, query or trailing slash, so it may be shown and recorded.
    """

    url: str

    @classmethod
    def parse(cls, text: str) -> AgentAddress:
        """Parse the address in `text`, which may also be the address of the card.

        Raises:
            AddressError: It is not an http or https address with a host, or it carries a user
                name. The message does not show that.
        """
        parts = _split(text)
        if "@" in parts.netloc:
            raise AddressError(
                f"the address of {_origin_text(parts)!r} must not carry a user name or password;"
                " if the agent wants credentials, give them as its credentials"
            )
        path = parts.path.removesuffix(WELL_KNOWN_CARD_PATH).rstrip("/")
        return cls(url=urlunsplit((parts.scheme, _netloc(parts), path, "", "")))


def endpoint(address: AgentAddress, advertised: str, *, has_credentials: bool) -> str:
    """Return the address to send messages to, by the rules at the head of this module.

    Args:
        address: What the user gave.
        advertised: What the card says; may be empty or only a path.
        has_credentials: Whether credentials go along.

    Raises:
        AddressError: It leads elsewhere, and must not be followed.
    """
    base = urlsplit(address.url)
    if not advertised:
        return address.url + "/"
    if advertised.startswith("/") and not advertised.startswith("//"):
        return _on_base(base, urlsplit(advertised))
    target = _split(advertised)
    if _origin(target) == _origin(base):
        return urlunsplit((base.scheme, base.netloc, target.path or "/", target.query, ""))
    if is_this_machine(target.hostname or ""):
        return _on_base(base, target)
    if target.hostname != base.hostname:
        raise AddressError(f"its card sends messages to another host, {_origin_text(target)!r}")
    if base.scheme == "https" and target.scheme == "http":
        return _on_base(base, target)
    if has_credentials:
        raise AddressError(f"its card would send the credentials to {_origin_text(target)!r}")
    return urlunsplit((target.scheme, _netloc(target), target.path or "/", target.query, ""))


def grpc_endpoint(address: AgentAddress, advertised: str, *, has_credentials: bool) -> str:
    """Return the address for gRPC, by the rules at the head of this module: scheme, host and port.

    Raises:
        AddressError: It leads elsewhere, and must not be followed.
    """
    base = urlsplit(address.url)
    target = _split(advertised if "://" in advertised else f"{base.scheme}://{advertised}")
    origin = _origin_text(target)
    if not is_this_machine(target.hostname or "") and target.hostname != base.hostname:
        raise AddressError(f"its card sends messages to another host, {origin!r}")
    if base.scheme == "https" and target.scheme == "http":
        raise AddressError(f"its card would send messages without TLS to {origin!r}")
    port = _origin(target)[2]
    if has_credentials and port != _origin(base)[2]:
        raise AddressError(f"its card would send the credentials to {origin!r}")
    host = base.netloc.removesuffix(f":{base.port}")
    return f"{target.scheme}://{host}:{port}"


def _split(text: str) -> SplitResult:
    try:
        parts = urlsplit(text.strip())
        port = parts.port
    except ValueError as exc:
        raise AddressError(f"{_strip_credentials(text)!r} is not an address: {exc}") from None
    if parts.scheme not in _DEFAULT_PORTS or not parts.hostname or port == 0:
        raise AddressError(
            f"{_strip_credentials(text)!r} is not an http:// or https:// address with a host"
        )
    return parts


def _strip_credentials(text: str) -> str:
    return text.rpartition("@")[2]


def _netloc(parts: SplitResult) -> str:
    host = parts.hostname or ""
    host = f"[{host}]" if ":" in host else host
    return host if parts.port is None else f"{host}:{parts.port}"


def _origin(parts: SplitResult) -> tuple[str, str | None, int]:
    return parts.scheme, parts.hostname, parts.port or _DEFAULT_PORTS[parts.scheme]


def _origin_text(parts: SplitResult) -> str:
    return f"{parts.scheme}://{_netloc(parts)}"


def _on_base(base: SplitResult, target: SplitResult) -> str:
    """Return the target's path at the origin of `base`, below the path of `base`."""
    path = target.path or "/"
    prefix = base.path.rstrip("/")
    if prefix and path != prefix and not path.startswith(f"{prefix}/"):
        path = prefix + path
    return urlunsplit((base.scheme, base.netloc, path, target.query, ""))
