"""Redaction of keys in texts and addresses."""

import pytest
from pydantic import SecretStr

from tau_bridge.redaction import Redactor, redact_error, redact_keys, redact_url


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
    ],
)
def test_a_request_is_kept_without_what_looks_like_a_key(text, masked):
    assert redact_keys(text) == masked


def test_an_address_is_shown_without_credentials_and_query():
    assert redact_url("https://me:secret@a.example:8/v1?key=k#f") == "https://a.example:8/v1"


def test_known_secrets_are_masked_the_longest_first_and_placeholders_are_not():
    redactor = Redactor([SecretStr("hunter2-x"), SecretStr("hunter2-x-long"), SecretStr("none")])
    assert redactor.text("none: hunter2-x-long, hunter2-x") == "none: ***, ***"
    assert Redactor([SecretStr("abcd")], min_chars=4, mask="[secret]").known("abcde") == "[secret]e"
