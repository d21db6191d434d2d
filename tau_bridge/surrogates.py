"""Surrogates: halves of characters, which JSON may hold and UTF-8 cannot."""

from __future__ import annotations

import json
import re
from typing import Any

_ESCAPED = re.compile(r"\\u[dD][89a-fA-F]")


def replace_surrogates(text: str) -> str:
    """Join surrogates that are a pair, and replace lone ones, so that the text can be encoded."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def whole_characters(value: Any, text: str) -> tuple[Any, bool]:
    """Apply `replace_surrogates` to the texts and keys of a JSON value; tell whether it had any.

    Args:
        value: The value.
        text: The JSON that it was parsed from: most need no second look.
    """
    if not _ESCAPED.search(text):
        return value, False
    written = json.dumps(value, ensure_ascii=False)
    whole = replace_surrogates(written)
    return (value, False) if whole == written else (json.loads(whole), True)
