"""EventReader: the events of a stream, out of its bytes as they come. Pure."""

from __future__ import annotations

from collections.abc import Iterator


class EventReader:
    """Takes chunks of a `text/event-stream` body, cut anywhere; gives the data of each event."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._data: list[bytes] = []
        self._after_cr = False

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """Yield the data of every event that ends in `chunk`."""
        for line in self._lines(chunk):
            if line:
                self._add(line)
            elif self._data:
                data, self._data = b"\n".join(self._data), []
                yield data

    def _lines(self, chunk: bytes) -> Iterator[bytes]:
        """Yield whole lines, which end with a line feed, a carriage return, or both."""
        if self._after_cr and chunk.startswith(b"\n"):
            chunk = chunk[1:]
        if chunk:
            self._after_cr = chunk.endswith(b"\r")
        *whole, last = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        for line in whole:
            yield bytes(self._rest) + line
            self._rest.clear()
        self._rest += last

    def _add(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        if name == b"data":
            self._data.append(value.removeprefix(b" "))
