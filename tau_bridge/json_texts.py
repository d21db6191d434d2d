"""Reads JSON from files that others wrote: documents and JSON lines, plain or gzip.

Lines and documents are bounded, and every error says in which line and column it is.
"""

from __future__ import annotations

import gzip
import io
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

from tau_bridge.a2a.traceability import ReportError
from tau_bridge.recorder import shorten
from tau_bridge.surrogates import whole_characters

MAX_TEXT_BYTES: Final = 256 * 1024 * 1024
"""Bytes of one line, or of a document on several lines, decompressed."""

_GZIP_MAGIC: Final = b"\x1f\x8b"
_BOM: Final = b"\xef\xbb\xbf"
_UTF16_BOMS: Final = (b"\xff\xfe", b"\xfe\xff")
_ONE_A_LINE: Final = "; several values in a file stand on a line each, or in one list"
_NOT_JSON: Final = "NaN or Infinity, which JSON does not have: taken as null"
_TWICE: Final = "key written twice in one object: the last one counts"
_HALF: Final = "text with half a character (a lone surrogate): replaced"


@dataclass(frozen=True, kw_only=True)
class JsonText:
    """A JSON text of a file, or what is wrong with it: one of `text` and `error`."""

    line: int
    """The line where it begins, from 1."""
    text: str = ""
    error: str | None = None


@dataclass(frozen=True, kw_only=True)
class ParsedJson:
    """A JSON value, and the changes that reading it took, with counts."""

    value: Any
    problems: tuple[str, ...] = ()


def open_json(path: Path) -> BinaryIO:
    """Open the file, decompressed if it is gzip by its content.

    Raises:
        ReportError: It cannot be opened.
    """
    try:
        file = path.open("rb")
        if not file.peek(len(_GZIP_MAGIC)).startswith(_GZIP_MAGIC):
            return file
        file.close()
        return io.BufferedReader(gzip.GzipFile(path))
    except OSError as exc:
        raise ReportError(f"cannot read {str(path)!r}: {exc.strerror or exc}") from exc


def json_texts(file: BinaryIO, *, max_bytes: int = MAX_TEXT_BYTES) -> Iterator[JsonText]:
    """Yield the JSON texts of a file: its lines, or the one document that it is.

    It is one document if its first line does not end an object or a list, and the second one is
    no object by itself.

    Raises:
        OSError, EOFError, zlib.error: Reading breaks off.
    """
    lines = _lines(file, max_bytes)
    first = next(lines, None)
    if first is None:
        return
    second = None
    if first.error is None and not first.text.rstrip().endswith(("}", "]")):
        second = next(lines, None)
        if first.text.strip() in ("{", "[") or not (second and _is_object(second)):
            yield _document([first, *([second] if second else [])], file, max_bytes)
            return
    yield first
    if second is not None:
        yield second
    yield from lines


def parse_json(text: JsonText) -> ParsedJson:
    """Parse a JSON text.

    Raises:
        ReportError: It is no JSON; the message has line and column.
    """
    if text.error is not None:
        raise ReportError(text.error)
    problems: Counter[str] = Counter()

    def object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) != len(pairs):
            problems[_TWICE] += len(pairs) - len(made)
        return made

    def constant(_: str) -> None:
        problems[_NOT_JSON] += 1

    try:
        value = json.loads(text.text, object_pairs_hook=object_of, parse_constant=constant)
        value, had_halves = whole_characters(value, text.text)
        if had_halves:
            problems[_HALF] += 1
    except json.JSONDecodeError as exc:
        raise ReportError(
            f"line {text.line + exc.lineno - 1}, column {exc.colno}: not JSON:"
            f" {exc.msg} at {shorten(text.text[exc.pos : exc.pos + 30], 30)!r}"
            f"{_ONE_A_LINE if exc.msg == 'Extra data' else ''}"
        ) from exc
    except RecursionError as exc:
        raise ReportError(f"line {text.line}: objects or lists are nested too deep") from exc
    except ValueError as exc:
        raise ReportError(f"line {text.line}: cannot be read: {exc}") from exc
    return ParsedJson(
        value=value, problems=tuple(f"{count} x {what}" for what, count in sorted(problems.items()))
    )


def _lines(file: BinaryIO, max_bytes: int) -> Iterator[JsonText]:
    """Yield the lines that are not blank, decoded."""
    number = 0
    while raw := file.readline(max_bytes + 1):
        number += 1
        if number == 1 and raw.startswith(_UTF16_BOMS):
            yield JsonText(line=1, error="the file is UTF-16: save it as UTF-8")
            return
        raw = raw.removeprefix(_BOM) if number == 1 else raw
        if len(raw) > max_bytes and not raw.endswith(b"\n"):
            _skip_line(file)
            yield _too_long_error(number, max_bytes)
        elif raw.strip():
            yield _decode(number, raw)


def _skip_line(file: BinaryIO) -> None:
    while chunk := file.readline(1024 * 1024):
        if chunk.endswith(b"\n"):
            return


def _too_long_error(line: int, max_bytes: int) -> JsonText:
    msg = (
        f"line {line}: longer than {max_bytes / 1024 / 1024:g} MB;"
        " give one trace a line, and shorten its texts"
    )
    return JsonText(line=line, error=msg)


def _decode(line: int, raw: bytes) -> JsonText:
    try:
        return JsonText(line=line, text=raw.decode())
    except UnicodeDecodeError as exc:
        return _not_utf8_error(line, exc)


def _not_utf8_error(line: int, exc: UnicodeDecodeError) -> JsonText:
    return JsonText(line=line, error=f"line {line}: not UTF-8 ({exc.reason}): save it as UTF-8")


def _is_object(line: JsonText) -> bool:
    try:
        return isinstance(parse_json(line).value, dict)
    except ReportError:
        return False


def _document(begun: list[JsonText], file: BinaryIO, max_bytes: int) -> JsonText:
    """Return all lines as one text, with its line breaks, so that positions in it stay right."""
    first, last = begun[0], begun[-1]
    if last.error is not None:
        return JsonText(line=first.line, error=last.error)
    start = first.text
    if last is not first:
        start += "\n" * (last.line - first.line - 1) + last.text
    room = max_bytes - len(start)
    raw = file.read(room + 1) if room >= 0 else b""
    if room < 0 or len(raw) > room:
        return _too_long_error(first.line, max_bytes)
    try:
        return JsonText(line=first.line, text=start + raw.decode())
    except UnicodeDecodeError as exc:
        return _not_utf8_error(last.line + 1 + raw.count(b"\n", 0, exc.start), exc)
