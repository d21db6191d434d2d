"""Checks an agent's authentication: what its card declares, and what it asks for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from tau_bridge.agent_check.findings import Finding, fails, ok, quote, skipped, warning
from tau_bridge.errors import (
    AgentAccessError,
    AgentAuthRequiredError,
    AgentError,
    AgentProtocolError,
)

if TYPE_CHECKING:
    from a2a.types import AgentCard, SecurityScheme

    from tau_bridge.agent_check.sending import Attempt

_GIVE_TOKEN: Final = "give its bearer token: --token TOKEN, or --token @FILE"  # noqa: S105 - advice
_BY_TOKEN: Final = frozenset({"bearer", "oauth2", "openIdConnect"})
"""Kinds of schemes that a bearer token satisfies."""


def check_authentication(
    card: AgentCard, attempts: Sequence[Attempt], *, has_token: bool, refused: bool | None
) -> list[Finding]:
    """Return how what the agent asks for fits what it declares.

    Args:
        card: Its card.
        attempts: The messages that were sent, with the token if there is one.
        has_token: Whether there is a token.
        refused: Whether a request without a token was refused; None where that is not known.
    """
    declared = _declared(card)
    if any(isinstance(each.error, AgentAuthRequiredError) for each in attempts):
        return [_not_let_in(declared, has_token=has_token), *_not_by_token(card)]
    if refused is None:
        return [_unknown(declared)]
    if not card.security_requirements:
        return [_undeclared(refused=refused, has_token=has_token)]
    if refused:
        return [ok(f"it declares {declared}, and refuses requests without a token")]
    return [
        warning(
            f"it declares {declared}, and answers without a token all the same",
            "refuse requests without credentials (HTTP 401), or drop the requirement from the card",
        )
    ]


def was_refused(answer: AgentError | None) -> bool | None:
    """Tell whether a request without credentials was refused; None where the answer leaves it open."""
    if isinstance(answer, AgentAuthRequiredError):
        return True
    if isinstance(answer, AgentProtocolError) and not isinstance(answer, AgentAccessError):
        return False
    return False if answer is None else None


def _not_let_in(declared: str, *, has_token: bool) -> Finding:
    card = f"its card declares {declared}" if declared else "its card declares no authentication"
    if has_token:
        return fails(
            f"it refuses the token; {card}", "check --token: is it this agent's, and valid?"
        )
    return fails(f"it refuses messages without credentials; {card}", _GIVE_TOKEN)


def _not_by_token(card: AgentCard) -> list[Finding]:
    schemes = {name: _kind(scheme) for name, scheme in card.security_schemes.items()}
    ways = [{schemes.get(name, "") for name in each.schemes} for each in card.security_requirements]
    if not ways or any(way <= _BY_TOKEN for way in ways):
        return []
    return [
        warning(
            "none of its ways to authenticate is a bearer token",
            "evaluations send bearer tokens only: accept one too, or put a proxy before the agent",
        )
    ]


def _undeclared(*, refused: bool, has_token: bool) -> Finding:
    if refused:
        return warning(
            "it refuses requests without a token, and its card requires none",
            "declare securitySchemes and securityRequirements, so that clients know",
        )
    return ok(f"its card requires none{', and the token is not needed' if has_token else ''}")


def _unknown(declared: str) -> Finding:
    return skipped(f"its card declares {declared or 'none'}; no answer shows more")


def _declared(card: AgentCard) -> str:
    names = sorted({name for each in card.security_requirements for name in each.schemes})
    schemes = card.security_schemes
    return ", ".join(
        f"{quote(name, most=40)} ({_kind(schemes[name]) if name in schemes else 'not described'})"
        for name in names
    )


def _kind(scheme: SecurityScheme) -> str:
    kind = scheme.WhichOneof("scheme") or ""
    if kind == "http_auth_security_scheme":
        named: str = scheme.http_auth_security_scheme.scheme
        return quote(named.lower(), most=20)[1:-1] or "HTTP"
    return _KINDS.get(kind, "an unknown scheme")


_KINDS: Final = {
    "api_key_security_scheme": "API key",
    "oauth2_security_scheme": "oauth2",
    "open_id_connect_security_scheme": "openIdConnect",
    "mtls_security_scheme": "mutual TLS",
}
