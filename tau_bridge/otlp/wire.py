"""The messages of spans in an export request of protobuf, found without parsing them. Pure.

The parser of protobuf builds all messages of a body at once, however many there are. Here one span
after the other is cut out, so that its reader can stop.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

_PATH: Final = (1, 2, 2)
"""The fields that lead to spans: `resource_spans`, `scope_spans`, `spans`."""
_VARINT: Final = 0
_EIGHT_BYTES: Final = 1
_BYTES: Final = 2
_FOUR_BYTES: Final = 5
_MAX_VARINT: Final = 10
"""Bytes of the longest number."""


class WireError(ValueError):
    """Bytes that are no message of protobuf, or one of more fields than are looked at."""


def span_messages(body: bytes, *, most: int) -> Iterator[bytes]:
    """Yield each span of an `ExportTraceServiceRequest`, as bytes.

    Args:
        body: The request.
        most: The fields around spans that are looked at.

    Raises:
        WireError: It is no such message.
    """
    yield from _Walk(body, most).messages(0, len(body), _PATH)


class _Walk:
    def __init__(self, body: bytes, most: int) -> None:
        self._body = body
        self._left = most

    def messages(self, at: int, end: int, path: tuple[int, ...]) -> Iterator[bytes]:
        """Yield the messages at the end of a path of fields, in these bytes."""
        while at < end:
            self._left -= 1
            if self._left < 0:
                raise WireError("too many fields around the spans")
            key, at = self._number(at, end)
            start, at = self._field(key & 7, at, end)
            if key != path[0] << 3 | _BYTES:
                continue
            if len(path) == 1:
                yield self._body[start:at]
            else:
                yield from self.messages(start, at, path[1:])

    def _field(self, kind: int, at: int, end: int) -> tuple[int, int]:
        """Return where the content of a field begins and ends."""
        if kind == _VARINT:
            return at, self._number(at, end)[1]
        if kind == _BYTES:
            size, at = self._number(at, end)
        elif kind in (_EIGHT_BYTES, _FOUR_BYTES):
            size = 8 if kind == _EIGHT_BYTES else 4
        else:
            raise WireError(f"a field of the kind {kind}")
        if at + size > end:
            raise WireError("a field that goes beyond its message")
        return at, at + size

    def _number(self, at: int, end: int) -> tuple[int, int]:
        """Return a number of variable length, and where it ends."""
        value = 0
        for place in range(min(_MAX_VARINT, end - at)):
            byte = self._body[at + place]
            value |= (byte & 0x7F) << 7 * place
            if byte < 0x80:  # the bit that says that more bytes follow is not set
                return value, at + place + 1
        raise WireError("a number that does not end")
