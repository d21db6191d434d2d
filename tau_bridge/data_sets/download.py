"""Downloads: an archive from an address into a file, which goes on where it broke off."""

from __future__ import annotations

import hashlib
import re
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import anyio
import httpx
from pydantic import BaseModel, ConfigDict, ValidationError

from tau_bridge.data_sets.limits import MIB, FetchLimits
from tau_bridge.data_sets.sources import is_loopback, without_credentials
from tau_bridge.errors import FetchError

OnProgress = Callable[[int, int | None], None]
"""Is told how many bytes are there, and how many there will be, where that is known."""

_MOST_REDIRECTS = 5
_LONGEST_WAIT_S = 60.0
_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+|\*)")
_PARTIAL, _RANGE_REFUSED = 206, 416
_AGAIN = frozenset([408, 425, 429, 500, 502, 503, 504])
"""Statuses after which another attempt may succeed."""


class _PartNote(BaseModel):
    """A record beside a part of a file: which version of it the server sent."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    validator: str


class _BrokenOffError(Exception):
    """The download broke off; another attempt may succeed.

    Args:
        connected: The server has answered.
        wait_s: The time that it wants to be left alone.
    """

    def __init__(self, why: str, *, connected: bool = True, wait_s: float = 0.0) -> None:
        self.connected = connected
        self.wait_s = wait_s
        super().__init__(why)


@dataclass(frozen=True, kw_only=True)
class Part:
    """The file of a download that is not finished, and the note beside it."""

    data: Path
    note: Path

    @classmethod
    def of(cls, folder: Path, address: str) -> Part:
        """Return the part of an address in a folder of parts."""
        key = hashlib.sha256(address.encode()).hexdigest()[:16]
        return cls(data=folder / f"{key}.part", note=folder / f"{key}.json")

    @property
    def size(self) -> int:
        """Bytes that are there."""
        return self.data.stat().st_size if self.data.exists() else 0

    def discard(self) -> None:
        """Remove it."""
        self.note.unlink(missing_ok=True)
        self.data.unlink(missing_ok=True)

    def validator(self) -> str | None:
        """Return what names the version of which this is a part; None: it cannot be continued."""
        try:
            return _PartNote.model_validate_json(self.note.read_bytes()).validator
        except (OSError, ValidationError):
            return None

    def begin(self, validator: str | None) -> None:
        """Empty it, and note the version that it will be a part of."""
        self.discard()
        self.data.touch()
        if validator is not None:
            self.note.write_text(_PartNote(validator=validator).model_dump_json())


async def download(
    address: str,
    part: Part,
    *,
    limits: FetchLimits,
    on_progress: OnProgress,
    sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
) -> None:
    """Bring a file, going on with what is there of it. It is whole where this returns.

    Raises:
        FetchError: It could not be brought. What is there of it stays, for the next time.
        OSError: It cannot be written.
    """
    shown = without_credentials(address)
    async with _client(limits) as client:
        for attempt in range(1, limits.attempts + 1):
            try:
                await _attempt(client, address, part, limits, on_progress)
            except _BrokenOffError as error:
                most = limits.attempts if error.connected else min(2, limits.attempts)
                if attempt >= most:
                    raise FetchError(f"{shown} cannot be fetched: {error}{_left(part)}") from error
                await sleep(max(limits.wait_s * 2 ** (attempt - 1), error.wait_s))
            else:
                return


def _client(limits: FetchLimits) -> httpx.AsyncClient:
    """Return a client that uses the proxies of the environment, as the person who asked would."""
    timeout = httpx.Timeout(limits.stalled_s, connect=limits.connect_s)
    try:
        return httpx.AsyncClient(timeout=timeout, headers={"Accept-Encoding": "identity"})
    except (ImportError, ValueError) as error:
        raise FetchError(f"the proxy of the environment cannot be used: {error}") from error


def _left(part: Part) -> str:
    if not part.size or part.validator() is None:
        return ""
    return f". {part.size / MIB:.1f} MiB of it are kept: the same command goes on from there"


async def _attempt(
    client: httpx.AsyncClient, address: str, part: Part, limits: FetchLimits, progress: OnProgress
) -> None:
    try:
        await _bring(client, address, part, limits, progress)
    except (httpx.InvalidURL, httpx.UnsupportedProtocol, UnicodeError) as error:
        raise FetchError(f"{without_credentials(address)} is no address: {error}") from error
    except httpx.ConnectTimeout as error:
        raise _BrokenOffError(
            f"no connection within {limits.connect_s:g} s. Is there a network?", connected=False
        ) from error
    except httpx.ConnectError as error:
        if _of_certificate(error):
            raise FetchError(
                f"{without_credentials(address)} cannot be fetched: its certificate is not trusted "
                f"({error})"
            ) from error
        raise _BrokenOffError(f"no connection ({error})", connected=False) from error
    except httpx.TimeoutException as error:
        raise _BrokenOffError(f"nothing came for {limits.stalled_s:g} s") from error
    except httpx.ProxyError as error:
        raise _BrokenOffError(f"the proxy refused ({error})", connected=False) from error
    except httpx.TransportError as error:
        why = str(error) or type(error).__name__
        raise _BrokenOffError(f"the connection broke off ({why})") from error


def _of_certificate(error: BaseException) -> bool:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLError):
            return True
        cause = cause.__cause__ or cause.__context__
    return "CERTIFICATE_VERIFY_FAILED" in str(error)


async def _bring(
    client: httpx.AsyncClient, address: str, part: Part, limits: FetchLimits, progress: OnProgress
) -> None:
    validator = part.validator()
    have = part.size if validator is not None else 0
    headers = {"Range": f"bytes={have}-", "If-Range": validator} if have and validator else {}
    response = await _followed(client, address, headers, limits)
    try:
        start, total = _place(response, part, have)
        if total is not None and total > limits.download_bytes:
            raise _too_large(part, limits)
        with part.data.open("r+b") as file:
            file.truncate(start)
            file.seek(start)
            async for chunk in _moving(response, limits):
                start += len(chunk)
                if start > limits.download_bytes:
                    raise _too_large(part, limits)
                file.write(chunk)
                progress(start, total)
        if total is not None and start != total:
            raise _BrokenOffError(f"{start} of {total} bytes came")
    finally:
        await response.aclose()


def _too_large(part: Part, limits: FetchLimits) -> FetchError:
    part.discard()
    most = limits.download_bytes // MIB
    return FetchError(f"the archive has more than {most} MiB: it is no task data")


async def _moving(response: httpx.Response, limits: FetchLimits) -> AsyncIterator[bytes]:
    """Yield the content as it is sent, as long as it comes fast enough."""
    chunks = response.aiter_raw()
    came, deadline = 0, anyio.current_time() + limits.stalled_s
    while True:
        with anyio.CancelScope(deadline=deadline) as scope:
            chunk = await anext(chunks, None)
        if scope.cancelled_caught:
            raise _BrokenOffError(f"too little came for {limits.stalled_s:g} s")
        if chunk is None:
            return
        yield chunk
        came += len(chunk)
        if came >= limits.progress_bytes:
            came, deadline = 0, anyio.current_time() + limits.stalled_s


def _place(response: httpx.Response, part: Part, have: int) -> tuple[int, int | None]:
    """Return where the content of an answer begins, and the size of the whole."""
    if response.status_code == _PARTIAL and have:
        found = _RANGE.fullmatch(response.headers.get("content-range", ""))
        if found is not None and int(found[1]) == have:
            return have, None if found[2] == "*" else int(found[2])
    if response.status_code != httpx.codes.OK:  # a range that does not fit what is there
        part.discard()
        raise _BrokenOffError("the server cannot go on with what is there; it begins again")
    part.begin(_validator(response))
    length = response.headers.get("content-length", "")
    return 0, int(length) if length.isascii() and length.isdigit() else None


def _validator(response: httpx.Response) -> str | None:
    """Return what names a version for If-Range, which a weak tag does not."""
    tag = str(response.headers.get("etag", ""))
    if tag.startswith('"'):
        return tag
    return None if tag else response.headers.get("last-modified")


async def _followed(
    client: httpx.AsyncClient, address: str, headers: dict[str, str], limits: FetchLimits
) -> httpx.Response:
    """Return the answer behind redirects, whose content is not read yet."""
    for _ in range(_MOST_REDIRECTS + 1):
        request = client.build_request("GET", address, headers=headers)
        with anyio.move_on_after(limits.stalled_s + limits.connect_s) as scope:
            response = await client.send(request, stream=True)
        if scope.cancelled_caught:
            raise _BrokenOffError(f"no answer within {limits.stalled_s:g} s")
        if not response.has_redirect_location:
            if response.status_code in (httpx.codes.OK, _PARTIAL, _RANGE_REFUSED):
                return response
            await response.aclose()
            raise _refused(response)
        await response.aclose()
        address = _next(address, response.headers["location"])
    raise FetchError(f"{without_credentials(address)} redirects more than {_MOST_REDIRECTS} times")


def _next(address: str, location: str) -> str:
    """Return the address of a redirect, if it may be followed."""
    here, there = urlsplit(address), urlsplit(urljoin(address, location))
    secure = here.scheme == there.scheme == "https"
    own = here.scheme == there.scheme == "http" and here.hostname == there.hostname
    if there.hostname and (secure or (own and is_loopback(there.hostname))):
        return there.geturl()
    raise FetchError(
        f"{without_credentials(address)} redirects to {without_credentials(there.geturl())}, where "
        "it is not followed: only from https to https"
    )


def _refused(response: httpx.Response) -> Exception:
    status = f"{response.status_code} {response.reason_phrase}".strip()
    if response.status_code in _AGAIN:
        after = response.headers.get("retry-after", "")
        wait_s = float(after) if after.isascii() and after.isdigit() else 0.0
        return _BrokenOffError(f"the server answers {status}", wait_s=min(wait_s, _LONGEST_WAIT_S))
    why = {
        401: "it wants credentials",
        403: "it is forbidden",
        404: "there is nothing at this address",
        410: "there is nothing at this address any more",
    }.get(response.status_code, "this is no archive")
    shown = without_credentials(str(response.request.url))
    return FetchError(f"{shown} cannot be fetched: {why} (the server answers {status})")
