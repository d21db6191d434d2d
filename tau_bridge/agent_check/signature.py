"""Checks the signatures of a card."""

from __future__ import annotations

import base64
import binascii
import contextlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import httpx

from tau_bridge.agent_check.findings import Finding, fails, ok, quote, warning
from tau_bridge.errors import AgentError

if TYPE_CHECKING:
    from a2a.types import AgentCardSignature
    from jwt import PyJWK

    from tau_bridge.a2a.address import AgentAddress
    from tau_bridge.agent_check.card_answer import CardFetcher, ParsedCard

ALGORITHMS: Final = (
    *("ES256", "ES384", "ES512", "EdDSA"),
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
)
"""Algorithms by which others than the signer can verify."""
MAX_SIGNATURES: Final = 5
_GIVE_KEY: Final = "give the public key of its signer: --key FILE (PEM, JWK or a set of JWK)"


class KeyFileError(ValueError):
    """A file holds no public key. The message says what was expected."""


@dataclass(frozen=True)
class PublicKey:
    """A key, and its id if it has one."""

    key_id: str | None
    key: PyJWK | str


def read_keys(content: bytes) -> tuple[PublicKey, ...]:
    """Read public keys from a PEM file, a JWK or a set of JWK.

    Raises:
        KeyFileError: There is none.
    """
    text = content.decode("utf-8", errors="replace").strip()
    if text.startswith("-----BEGIN "):
        if "PRIVATE KEY" in text:
            raise KeyFileError("it holds a private key; give the public one")
        if not _is_public_key(text):
            raise KeyFileError("it holds no public key that can be read")
        return (PublicKey(None, text),)
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        raise KeyFileError("it is neither PEM nor JSON") from None
    found = _from_json(data)
    if not found:
        raise KeyFileError("it holds no public key that can be read")
    return found


def _is_public_key(pem: str) -> bool:
    """Tell whether a PEM text is a key that some algorithm can use."""
    from jwt import PyJWTError  # imports cryptography, for signed cards only
    from jwt.algorithms import get_default_algorithms

    known = get_default_algorithms()
    for name in ALGORITHMS:
        with contextlib.suppress(PyJWTError, ValueError, TypeError):
            known[name].prepare_key(pem)
            return True
    return False


def _from_json(data: Any) -> tuple[PublicKey, ...]:
    from jwt import PyJWK, PyJWTError  # imports cryptography, for signed cards only

    records = data.get("keys", [data]) if isinstance(data, Mapping) else []
    found = []
    for record in records if isinstance(records, list) else []:
        try:
            key = PyJWK.from_dict(record)
        except (PyJWTError, ValueError, TypeError, AttributeError):
            continue
        if key.key_type != "oct":
            found.append(PublicKey(key.key_id, key))
    return tuple(found)


async def check_signature(
    parsed: ParsedCard,
    address: AgentAddress,
    fetcher: CardFetcher,
    *,
    keys: Sequence[PublicKey] = (),
) -> list[Finding]:
    """Return whether a card is signed, and by whom it was.

    Args:
        parsed: The card.
        address: The agent's; keys that the card names are fetched from this host only.
        fetcher: Fetches them.
        keys: The keys of the signer, where they are known.
    """
    signatures = parsed.card.signatures[:MAX_SIGNATURES]
    if not signatures:
        return [ok("the card is not signed")]
    headers = [_protected(each) for each in signatures]
    if not any(headers):
        return [fails("its signature has no readable header", "sign the card again")]
    known: dict[str, tuple[PublicKey, ...]] = {"": tuple(keys)}
    problems = []
    if not keys:
        for header in headers:
            url = str(header.get("jku") or "")
            found = await _fetched(url, address, fetcher) if url else "it names no address of keys"
            if isinstance(found, str):
                problems.append(found)
            else:
                known[url] = found
    return [_verified(parsed, headers, known, problems)]


def _protected(signature: AgentCardSignature) -> Mapping[str, Any]:
    """Return the protected header; empty where it cannot be read."""
    encoded = signature.protected
    try:
        text = base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4))
        header = json.loads(text)
    except (binascii.Error, ValueError, RecursionError):
        return {}
    return header if isinstance(header, dict) else {}


async def _fetched(
    url: str, address: AgentAddress, fetcher: CardFetcher
) -> tuple[PublicKey, ...] | str:
    """Return the keys at an address that a card names, or why there are none."""
    try:
        host = urlsplit(url).hostname
    except ValueError:
        host = None
    if host != urlsplit(address.url).hostname:
        return f"its keys are on another host, which is not called ({quote(url)})"
    try:
        answer = await fetcher.public(url)
        if answer.status != httpx.codes.OK:
            return f"its keys cannot be fetched: HTTP {answer.status} at {quote(url)}"
        return read_keys(answer.body)
    except (AgentError, KeyFileError) as exc:
        return f"its keys cannot be read from {quote(url)}: {exc}"


def _verified(
    parsed: ParsedCard,
    headers: Sequence[Mapping[str, Any]],
    known: Mapping[str, tuple[PublicKey, ...]],
    problems: Sequence[str],
) -> Finding:
    from a2a.utils.signing import (  # imports cryptography, for signed cards only
        SignatureVerificationError,
        create_signature_verifier,
    )
    from jwt import PyJWTError

    def key_for(key_id: str | None, url: str | None) -> PyJWK | str:
        key = _key(known, key_id, url)
        if key is None:
            raise PyJWTError("the key is not known")
        return key

    if all(_key(known, each.get("kid"), each.get("jku")) is None for each in headers):
        kid = quote(str(headers[0].get("kid")), most=60)
        why = problems[0] if problems else f"no key has its id {kid}"
        return warning(f"it is signed, but the signature cannot be verified: {why}", _GIVE_KEY)
    used = ", ".join(sorted({quote(str(each.get("alg")), most=20)[1:-1] for each in headers}))
    try:
        create_signature_verifier(key_for, list(ALGORITHMS))(parsed.card)
    except SignatureVerificationError:
        return _broken(parsed, used)
    whose = "the given key" if known[""] else "a key of its own host"
    return ok(f"verified by {whose} ({used})")


def _key(known: Mapping[str, tuple[PublicKey, ...]], key_id: Any, url: Any) -> PyJWK | str | None:
    keys = known[""] or known.get(str(url or ""), ())
    fitting = [each.key for each in keys if each.key_id in (None, key_id)]
    return fitting[0] if fitting else None


def _broken(parsed: ParsedCard, algorithm: str) -> Finding:
    if parsed.is_legacy:
        return warning(
            f"its signature ({algorithm}) does not fit the card as protocol 1.0 writes it; for"
            " protocol 0.3 there is no agreed form to sign",
            "serve a card of protocol 1.0 with a signature of its own",
        )
    return fails(
        f"its signature ({algorithm}) does not fit the card: the card was changed after it was"
        " signed, or another key signed it",
        "sign the card as it is served, after its last change",
    )
