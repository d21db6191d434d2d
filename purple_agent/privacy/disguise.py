"""Disguise: decodes a text that is encoded or obfuscated.

Everything here takes time and room linear in the length of the text.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import html
import re
import unicodedata
from collections.abc import Iterator
from urllib.parse import unquote

_LOOKALIKES = str.maketrans(
    "авекмнорстухіјѕԁԛԝһӏѵгАВЕКМНОРСТУХІЈЅ"
    "αβγεικνορτυχηωΑΒΕΖΗΙΚΜΝΟΡΤΥΧ"
    "ıłøđħɑɡɩƅᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢոսօ’‘ʼ`",
    "abekmhopctyxijsdqwhlvrABEKMHOPCTYXIJS"
    "abyeikvoptuxnwABEZHIKMNOPTYX"
    "ilodhagibabcdefghijklmnoprstuvwyznuo''''",
)
_LETTER_SYMBOLS = {
    first + offset: chr(ord("a") + offset)
    # Enclosed letters of flags and signs, which compatibility forms leave as they are.
    for first in (0x1F150, 0x1F170, 0x1F1E6)
    for offset in range(26)
}
_INVISIBLE = frozenset({"Mn", "Me", "Cf"})
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{16,}")
_HEX = re.compile(r"[0-9A-Fa-f]{16,}")
_GIVEAWAYS = (
    "passw",
    "ssn",
    "social sec",
    "credit card",
    "card number",
    "salar",
    "address",
    "api key",
)
"""A text is reversed or decoded with ROT13 only if that reveals one of these words."""


def readings(text: str) -> Iterator[str]:
    """Yield the plain reading of a text, then decoded ones; letters keep their case.

    Decoded are HTML entities and percent encoding, base64, hexadecimal digits, ROT13 and reversed
    text. Nothing is decoded twice.
    """
    plain = fold(text)
    yield plain
    for decoded in _decoded(text):
        yield fold(decoded)
    for turned in (codecs.encode(plain, "rot13"), plain[::-1]):
        lowered = turned.lower()
        if any(giveaway in lowered for giveaway in _GIVEAWAYS):
            yield turned


def fold(text: str) -> str:
    """Return the text without marks and invisible signs, with look-alikes as Latin letters."""
    if text.isascii():
        return text.replace("`", "'")
    # Remove marks first: normalizing a long run of them would take quadratic time.
    letters = unicodedata.normalize("NFKD", _visible(text))
    return _visible(letters).translate(_LOOKALIKES).translate(_LETTER_SYMBOLS)


def _visible(text: str) -> str:
    return "".join(sign for sign in text if unicodedata.category(sign) not in _INVISIBLE)


def _decoded(text: str) -> Iterator[str]:
    if "%" in text or "&" in text:
        unescaped = html.unescape(unquote(text))
        if unescaped != text:
            yield unescaped
    for run in _BASE64.findall(text):
        yield from _printable(_from_base64(run))
    for run in _HEX.findall(text):
        yield from _printable(bytes.fromhex(run[: len(run) // 2 * 2]))


def _from_base64(run: str) -> bytes:
    digits = run.replace("-", "+").replace("_", "/")
    whole = digits[: len(digits) // 4 * 4] if len(digits) % 4 == 1 else digits
    try:
        return base64.b64decode(whole + "=" * (-len(whole) % 4))
    except (binascii.Error, ValueError):
        return b""


def _printable(data: bytes) -> Iterator[str]:
    """Yield the bytes as text if they are text, since most runs of letters encode nothing."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return
    if " " in text and text.replace("\n", " ").isprintable():
        yield text
