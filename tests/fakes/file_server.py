"""A web server with one file, which cuts, stalls, changes and refuses as a test says."""

from __future__ import annotations

import contextlib
import re
import ssl
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class ServedFile:
    """What is served, and how.

    Args:
        content: The file.
        etag: Its version; None: it has none.
        ranges: Whether a range is answered with a range.
        cuts: After how many bytes each answer is cut off, in order; then answers are whole.
        statuses: The status of each answer, in order; then 200.
        headers: Further headers of every answer.
        redirect: Where every request but those of `/file` is sent.
        announced: The length that is announced in place of the right one; -1: none.
        stalls: An answer stops in its midst until the server is closed.
        silent: No answer begins until then.
        asked: The headers of each request.
    """

    content: bytes
    etag: str | None = '"1"'
    ranges: bool = True
    cuts: list[int] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    redirect: str | None = None
    announced: int | None = None
    stalls: bool = False
    silent: bool = False
    asked: list[dict[str, str]] = field(default_factory=list)


class _Handler(BaseHTTPRequestHandler):
    """Answers from what the server holds."""

    server: _Server

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        served = self.server.served
        served.asked.append({name.lower(): value for name, value in self.headers.items()})
        if served.silent:
            self.server.closing.wait()
            return
        status = served.statuses.pop(0) if served.statuses else 200
        if served.redirect is not None and self.path != "/file":
            self._head(302, {"Location": served.redirect, "Content-Length": "0"})
        elif status != 200:
            self._head(status, {"Content-Length": "0", **served.headers})
        else:
            self._send(served)

    def _send(self, served: ServedFile) -> None:
        begin = self._begin(served)
        body, size = served.content[begin:], len(served.content)
        length = len(body) if served.announced is None else served.announced
        announced = {} if length < 0 else {"Content-Length": str(length)}
        headers = {**announced, **served.headers}
        if served.etag is not None:
            headers["ETag"] = served.etag
        if begin:
            headers.setdefault("Content-Range", f"bytes {begin}-{size - 1}/{size}")
        self._head(206 if begin else 200, headers)
        if served.stalls:
            self.wfile.write(body[: len(body) // 2])
            self.wfile.flush()
            self.server.closing.wait()
        elif served.cuts:
            self.wfile.write(body[: served.cuts.pop(0)])
            self.close_connection = True
        else:
            with contextlib.suppress(ConnectionError):  # the client has heard enough
                self.wfile.write(body)

    def _begin(self, served: ServedFile) -> int:
        found = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        same = self.headers.get("If-Range") == served.etag
        return int(found[1]) if found and served.ranges and same else 0

    def _head(self, status: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()


class _Server(ThreadingHTTPServer):
    """Listens on a free loopback port."""

    def __init__(self, served: ServedFile) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.served = served
        self.closing = threading.Event()


@contextlib.contextmanager
def serve_file(served: ServedFile, context: ssl.SSLContext | None = None) -> Iterator[str]:
    """Serve a file on a free loopback port, over TLS with a context; yields the base address."""
    server = _Server(served)
    if context is not None:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        scheme = "http" if context is None else "https"
        yield f"{scheme}://127.0.0.1:{server.server_address[1]}"
    finally:
        server.closing.set()
        server.shutdown()
        thread.join()
        server.server_close()
