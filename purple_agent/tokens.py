"""A rough count of tokens, if no tokenizer is available or worth its time."""

from __future__ import annotations

CHARACTERS_A_TOKEN = 4


def rough_count(*texts: str) -> int:
    """Estimate the tokens of texts as a quarter of their characters, rounded up."""
    return -(-sum(map(len, texts)) // CHARACTERS_A_TOKEN)
