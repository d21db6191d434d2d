"""Signatures of cards."""

import base64
import json

import pytest
from a2a.client.card_resolver import parse_agent_card
from a2a.server.request_handlers.response_helpers import agent_card_to_dict
from a2a.utils.signing import create_agent_card_signer
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from jwt.algorithms import ECAlgorithm
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Mount, Route

from tau_bridge.agent_check.signature import KeyFileError, read_keys
from tests.fakes.shop import shop_agent, with_card


class Signer:
    def __init__(self):
        self._private = ec.generate_private_key(ec.SECP256R1())

    def __call__(self, card, *, jku=None):
        header = {"kid": "key-1", "alg": "ES256", "typ": "JOSE", **({"jku": jku} if jku else {})}
        parsed = parse_agent_card(json.loads(json.dumps(card)))
        signed = create_agent_card_signer(self._private, header)(parsed)
        card["signatures"] = agent_card_to_dict(signed)["signatures"]

    def pem(self):
        return self._private.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )

    def private_pem(self):
        return self._private.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )

    def jwk(self):
        return {**json.loads(ECAlgorithm.to_jwk(self._private.public_key())), "kid": "key-1"}

    def jwks(self):
        return json.dumps({"keys": [{"kty": "unknown"}, self.jwk()]}).encode()


@pytest.fixture(scope="module")
def signer():
    return Signer()


def signed(signer, **options):
    return with_card(shop_agent(), lambda card: signer(card, **options))


async def test_a_card_without_a_signature_is_no_flaw(check, of):
    assert of(await check(shop_agent()), "signature") == "ok: the card is not signed -> "


@pytest.mark.parametrize("form", ["pem", "jwks"])
async def test_a_signature_is_verified_by_the_given_key(check, of, signer, form):
    keys = read_keys(getattr(signer, form)())
    result = await check(signed(signer), keys=keys)
    assert of(result, "signature") == "ok: verified by the given key (ES256) -> "


async def test_a_signature_is_verified_by_keys_of_the_agents_own_host(check, of, signer):
    def sign(card):
        signer(card, jku=card["supportedInterfaces"][0]["url"] + "keys.json")

    keys = Route("/keys.json", lambda _: JSONResponse(json.loads(signer.jwks())))
    app = Starlette(routes=[keys, Mount("/", shop_agent())])
    result = await check(with_card(app, sign))
    assert of(result, "signature") == "ok: verified by a key of its own host (ES256) -> "


async def test_keys_on_another_host_are_not_fetched(check, of, signer):
    result = await check(signed(signer, jku="https://keys.test/keys.json"))
    assert "warning" in of(result, "signature")
    assert "another host, which is not called ('https://keys.test/keys.json')" in of(
        result, "signature"
    )


async def test_a_signature_without_a_key_is_a_warning(check, of, signer, statuses):
    result = await check(signed(signer))
    assert statuses(result) == {"signature": "warning"}
    assert "--key FILE" in of(result, "signature")


async def test_a_card_that_was_changed_after_it_was_signed_fails(check, of, signer, statuses):
    def sign_and_change(card):
        signer(card)
        card["description"] = "Something else."

    app = with_card(shop_agent(), sign_and_change)
    result = await check(app, keys=read_keys(signer.pem()))
    assert statuses(result) == {"signature": "fails"}
    assert "changed after it was signed" in of(result, "signature")


async def test_a_key_of_another_kind_than_the_header_says_fails(check, statuses, signer):
    def lie(card):
        signer(card)
        header = base64.urlsafe_b64encode(b'{"alg": "RS256", "kid": "key-1"}').decode()
        card["signatures"][0]["protected"] = header

    for keys in (signer.pem(), signer.jwks()):
        result = await check(with_card(shop_agent(), lie), keys=read_keys(keys))
        assert statuses(result) == {"signature": "fails"}


async def test_another_key_fails(check, statuses, signer):
    result = await check(signed(signer), keys=read_keys(Signer().pem()))
    assert statuses(result) == {"signature": "fails"}


async def test_a_signature_of_a_card_of_protocol_0_3_that_does_not_fit_is_a_warning(
    check, statuses, signer
):
    def legacy(card):
        signer(card)
        card.pop("supportedInterfaces")
        card["description"] = "Something else."

    app = with_card(shop_agent(), legacy, protocols=("0.3",))
    result = await check(app, keys=read_keys(signer.pem()))
    assert statuses(result) == {"signature": "warning"}


@pytest.mark.parametrize("protected", ["", "?", "bm90IGpzb24", "W10", "e30"])
async def test_a_signature_that_cannot_be_read_is_no_crash(check, statuses, protected):
    def sign(card):
        card["signatures"] = [{"protected": protected, "signature": "x"}]

    result = await check(with_card(shop_agent(), sign))
    assert statuses(result)["signature"] in ("fails", "warning")


def test_a_key_file_holds_a_public_key(signer):
    assert read_keys(json.dumps(signer.jwk()).encode())[0].key_id == "key-1"
    for content, words in (
        (signer.private_pem(), "private key"),
        (b"hello", "neither PEM nor JSON"),
        (b"{}", "no public key"),
        (b'{"keys": 1}', "no public key"),
        (b'{"kty": "oct", "k": "c2VjcmV0"}', "no public key"),
        (b"-----BEGIN PUBLIC KEY-----\nx\n-----END PUBLIC KEY-----", "no public key"),
    ):
        with pytest.raises(KeyFileError, match=words):
            read_keys(content)
