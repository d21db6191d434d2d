"""Redaction of keys in texts and addresses."""

import pytest
from pydantic import SecretStr

from tau_bridge.redaction import (
    Redactor,
    names_secret,
    redact_error,
    redact_keys,
    redact_sentence,
    redact_url,
)


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("Bearer abc.def, then", "***, then"),
        ("key-1234 is wrong", "*** is wrong"),
        ("0123456789abcdef0123456789abcdef bad", "*** bad"),
        ("litellm.exceptions.AuthenticationError", "litellm.exceptions.AuthenticationError"),
        ("api_key is not set", "api_key is not set"),
    ],
)
def test_whatever_could_be_a_key_is_masked_in_an_error_and_words_are_not(text, masked):
    assert redact_error(text) == masked


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ('{"user_llm_args": {"api_key": "abc"}}', '{"user_llm_args": {"api_key": "***"}}'),
        ('{"Authorization":"Bearer \\"x\\" y"}', '{"Authorization":"***"}'),
        ('{"config": {"max_tokens": 100}}', '{"config": {"max_tokens": 100}}'),
        (
            "Evaluate http://a.example with sk-abcdefghijklmnop1",
            "Evaluate http://a.example with ***",
        ),
        ("the header is Bearer abcdefghijkl", "the header is ***"),
        ("Evaluate the token-shop agent", "Evaluate the token-shop agent"),
        ("password=Tr0ub4dor&3, then", "password=***, then"),
        ("api_key: 9f8e7d6c5b4a3928", "api_key: ***"),
        ("the token: invalid; a secret: be kind", "the token: invalid; a secret: be kind"),
        ("My password is hunter2-x.", "My password is ***."),
        ("Authorization: Basic YWxhZGRpbjpvcGVu", "Authorization: ***"),
        ("https://x.example/?api_key=abcd1234&page=1", "https://x.example/?api_key=***&page=1"),
        ("postgres://admin:S3cret@db.example/x", "postgres://admin:***@db.example/x"),
        ("http://127.0.0.1:9010/x", "http://127.0.0.1:9010/x"),
        ("aws gave wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "aws gave ***"),
        (
            "-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----\nand",
            "***\nand",
        ),
    ],
)
def test_a_request_is_kept_without_what_looks_like_a_key(text, masked):
    assert redact_keys(text) == masked


@pytest.mark.parametrize(
    "key",
    [
        "AKIAIOSFODNN7EXAMPLE",
        "ghp_ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
        "github_pat_11ABCDEFG0123456789abc_ABCDEFGHIJKLM",
        "glpat-AbCdEfGhIjKlMnOpQrSt",
        "AIzaSyA1234567890abcdefghijklmnopqrstuvw",
        "hf_AbCdEfGhIjKlMnOpQrStUvWxYz12345678",
        "npm_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789",
        "xoxb-123456789012-1234567890123-AbCdEf",
        "sk_live_51AbCdEfGhIjKlMn",
        "SG.abcdefghijklmnopqrstuv.ABCDEFGHIJKLMNOPQRSTUVWXYZ",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NSJ9.abcDEF123456",
    ],
)
def test_a_key_of_a_known_form_is_masked_wherever_it_stands(key):
    assert redact_keys(f"use {key}, please") == "use ***, please"


@pytest.mark.parametrize(
    "name",
    [
        "password", "dbPassword", "api_key", "x-api-key", "APIKey", "AWS_SECRET_ACCESS_KEY",
        "client_secret", "accessToken", "token", "password2", "Authorization", "secret_value",
    ],
)  # fmt: skip
def test_a_field_is_known_as_a_credential_by_the_words_of_its_name(name):
    assert names_secret(name)


@pytest.mark.parametrize(
    "name",
    ["key", "sort_key", "primary_key", "keyboard", "secret_santa", "next_page_token", "monkey",
     "token_type", "max_tokens", "passwordless", ""],
)  # fmt: skip
def test_a_field_with_such_a_word_for_something_else_is_none(name):
    assert not names_secret(name)


def test_an_address_is_shown_without_credentials_and_query():
    assert redact_url("https://me:secret@a.example:8/v1?key=k#f") == "https://a.example:8/v1"


def test_known_secrets_are_masked_the_longest_first_and_placeholders_are_not():
    redactor = Redactor([SecretStr("hunter2-x"), SecretStr("hunter2-x-long"), SecretStr("none")])
    assert redactor.text("none: hunter2-x-long, hunter2-x") == "none: ***, ***"
    assert Redactor([SecretStr("abcd")], min_chars=4, mask="[secret]").known("abcde") == "[secret]e"


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("my password: sunshine, please", "my password: ***, please"),
        ("password is sunshine.", "password is ***."),
        ("Passwort ist geheim", "Passwort ist ***"),
        ("mot de passe : soleil", "mot de passe : ***"),
        ("la contraseña es sol", "la contraseña es ***"),
        ("pw: hunter", "pw: ***"),
        ("the passphrase is 'open sesame now', ok", "the passphrase is ***, ok"),
        ('bob, password="a b"', "bob, password=***"),
        ("API key: abcdef", "API key: ***"),
        ("the password hunter2 works", "the password *** works"),
        ("my pin is 1234", "my pin is ***"),
        ("client-secret=zz", "client-secret=***"),
    ],
)
def test_secrets_in_a_sentence_are_masked(said, kept):
    assert redact_sentence(said) == kept


@pytest.mark.parametrize(
    "said",
    [
        "five airline tasks about password reset, three trials",
        "what is the pass rate, and is pass^1 better?",
        "tasks with token counts: 100",
        "is it a secret?",
        "the agent at http://h:9010 on tasks 1, 2 and 3",
    ],
)
def test_what_speaks_of_no_secret_stays(said):
    assert redact_sentence(said) == said
