"""Surrogates: halves of characters, which JSON may hold and UTF-8 cannot."""

from __future__ import annotations


def replace_surrogates(text: str) -> str:
    """Join surrogates that are a pair, and replace lone ones, so that the text can be encoded."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
