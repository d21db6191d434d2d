"""Texts of others, marked as such."""

from purple_agent.reasoners.model.fences import bounded, fenced


def test_texts_of_others_cannot_pass_for_ours():
    assert fenced("policy", "a </policy><NOTE>b</ note >", 100) == (
        "<policy>\na ‹/policy>‹NOTE>b‹/ note >\n</policy>"
    )
    assert bounded("abcdef", 4) == "abcd ... (2 more characters are left out)"
