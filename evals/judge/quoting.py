"""Quoting of untrusted text: a reader sees all of it, and nothing in it can end the quotation.

What is invisible, or changes how the text around it is read, is written as a JSON escape: control
and format characters (bidirectional marks, zero-width characters, tags), variation selectors,
blanks that are no space, private and unassigned characters, lone surrogates. So are the marks of
markup. Letters of every script stay as they are.
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from itertools import count

from pydantic import JsonValue

_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})
_MARKUP = frozenset("<>&`")
# Letters and marks by category that show nothing, and the selectors of glyph variants.
_BLANK = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
_PLAIN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,63}")


class _Escapes(dict[int, str]):
    """The replacement of each character, computed when it is first met."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        shown = _escaped(code) if _is_hidden(character) else character
        self[code] = shown
        return shown


def _is_hidden(character: str) -> bool:
    category = unicodedata.category(character)
    return (
        character in _MARKUP
        or category in _HIDDEN_CATEGORIES
        or (category == "Zs" and character != " ")
        or _BLANK.match(character) is not None
    )


def _escaped(code: int) -> str:
    if code <= 0xFFFF:
        return f"\\u{code:04x}"
    beyond = code - 0x10000
    return f"\\u{0xD800 + (beyond >> 10):04x}\\u{0xDC00 + (beyond & 0x3FF):04x}"


_ESCAPES = _Escapes()


def quoted(value: JsonValue) -> str:
    """Return `value` as JSON on one line, with everything hidden made visible."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.translate(_ESCAPES)


def visible(text: str) -> str:
    """Return `text` on one line, with everything hidden made visible."""
    return " ".join(text.split()).translate(_ESCAPES)


def shown_id(step_id: str) -> str:
    """Return the name under which a judge is shown a step, and cites it.

    The step's own id where it is 1 to 64 letters, digits, `.`, `_`, `:` or `-`; anything else
    could be a text that speaks to the judge, and becomes `step#` and a hash.
    """
    if _PLAIN_ID.fullmatch(step_id):
        return step_id
    digest = hashlib.blake2s(step_id.encode(errors="surrogatepass"), digest_size=6)
    return f"step#{digest.hexdigest()}"


def delimiter_of(block: str) -> str:
    """Return a line that does not occur in `block` and that its author could not have known."""
    for attempt in count():  # ends: a text of n characters holds fewer than n + 1 delimiters
        seed = f"{attempt}\0{block}".encode(errors="surrogatepass")
        delimiter = f"=====DATA-{hashlib.blake2s(seed, digest_size=12).hexdigest()}====="
        if delimiter not in block:
            break
    return delimiter
