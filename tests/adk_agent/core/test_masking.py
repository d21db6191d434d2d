import pytest

from adk_agent.core.masking import without_credentials, without_keys


@pytest.mark.parametrize(
    ("request_text", "kept"),
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
def test_a_request_is_kept_without_what_looks_like_a_key(request_text, kept):
    assert without_keys(request_text) == kept


def test_an_address_is_shown_without_credentials_and_query():
    assert (
        without_credentials("https://me:secret@a.example:8/v1?key=k#f") == "https://a.example:8/v1"
    )
