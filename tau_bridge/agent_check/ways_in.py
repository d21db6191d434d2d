"""Says by which flags the credentials are given that a card declares."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tau_bridge.agent_check.findings import quote

if TYPE_CHECKING:
    from a2a.types import AgentCard, SecurityScheme

_SOURCE = "=VARIABLE"


def flags_for(card: AgentCard) -> str | None:
    """Return the flags that give what a card requires; None if it requires what is not sent here.

    Of several ways it is the first that can be gone.
    """
    for way in card.security_requirements:
        flags = [
            _flag(card.security_schemes[name])
            for name in sorted(way.schemes)
            if name in card.security_schemes
        ]
        if flags and len(flags) == len(way.schemes) and None not in flags:
            return " ".join(f"--credential {flag}" for flag in flags)
    return None


def kind_of(scheme: SecurityScheme) -> str:
    """Return the kind of a scheme in words."""
    kind = scheme.WhichOneof("scheme") or ""
    if kind == "http_auth_security_scheme":
        named: str = scheme.http_auth_security_scheme.scheme
        return quote(named.lower(), most=20)[1:-1] or "HTTP"
    return _KINDS.get(kind, "an unknown scheme")


_KINDS = {
    "api_key_security_scheme": "API key",
    "oauth2_security_scheme": "oauth2",
    "open_id_connect_security_scheme": "openIdConnect",
    "mtls_security_scheme": "mutual TLS",
}


def _flag(scheme: SecurityScheme) -> str | None:
    kind = scheme.WhichOneof("scheme")
    if kind == "http_auth_security_scheme":
        named = scheme.http_auth_security_scheme.scheme.lower()
        return f"{named}{_SOURCE}" if named in ("bearer", "basic") else None
    if kind == "api_key_security_scheme":
        key = scheme.api_key_security_scheme
        is_known = key.location in ("header", "query", "cookie")
        return f"{key.location}:{_plain(key.name)}{_SOURCE}" if is_known else None
    if kind == "oauth2_security_scheme":
        return f"{_client(scheme)}{_SOURCE}"
    if kind == "open_id_connect_security_scheme":
        return f"bearer{_SOURCE}"
    return "certificate=@FILE" if kind == "mtls_security_scheme" else None


def _client(scheme: SecurityScheme) -> str:
    flows = scheme.oauth2_security_scheme.flows
    if flows.WhichOneof("flow") != "client_credentials":
        return "bearer"  # which a person fetches
    flow = flows.client_credentials
    scopes = ",".join(flow.scopes)
    return _plain(f"oauth2:{flow.token_url}{f'#{scopes}' if scopes else ''}")


def _plain(text: str) -> str:
    """Return a card's words for a command line: without what a shell or a terminal would read."""
    return quote(text, most=200)[1:-1]
