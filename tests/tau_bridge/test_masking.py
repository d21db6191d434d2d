"""Texts without what could be a key."""

import pytest

from tau_bridge.masking import without_secrets


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
def test_what_could_be_a_key_is_masked_and_words_are_not(text, masked):
    assert without_secrets(text) == masked
