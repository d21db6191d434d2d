"""Access: decides who may look at the site, checked before anything is read.

Without a token only this machine can reach the site, and the `Host` header must name this machine:
a foreign name that is made to lead here (DNS rebinding) is refused. With a token, whoever has it may
look, from wherever. Foreign pages get nothing in either case: no request of theirs is answered but
a link that a person follows, and no answer may be framed or read across origins.
"""

from __future__ import annotations

import ipaddress
import secrets
from dataclasses import dataclass, field
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

TOKEN = "token"  # noqa: S105 - the name of a parameter
_OWN = frozenset({"127.0.0.1", "localhost", "::1"})
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


@dataclass(frozen=True, kw_only=True)
class Visitors:
    """The rule for visitors.

    Args:
        host: The address that the site listens on.
        port: Its port, which the cookie's name has: cookies are shared by all ports of a host.
        token: What a visitor has to show; None: only this machine can reach the site.
    """

    host: str
    port: int
    token: str | None = field(default=None, repr=False)
    session: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    """The value of the cookie, which stands for the token; of this start alone."""

    @property
    def cookie(self) -> str:
        """Return the name of the cookie."""
        return f"greenroom_view_{self.port}"


class Guard:
    """Answers requests that may not look, and passes on all others.

    Args:
        app: The site.
        visitors: Who may look.
    """

    def __init__(self, app: ASGIApp, visitors: Visitors) -> None:
        self._app = app
        self._visitors = visitors

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        answer = self._refusal(scope) or self._admission(scope)
        await (answer or self._app)(scope, receive, with_headers)

    def _refusal(self, scope: Scope) -> Response | None:
        """Return what a request is told that is not this site's own."""
        headers = Headers(scope=scope)
        if scope["method"] not in ("GET", "HEAD"):
            return _refused(HTTPStatus.METHOD_NOT_ALLOWED, "this site is only read")
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self._is_own(hosts[0]):
            return _refused(
                HTTPStatus.MISDIRECTED_REQUEST,
                "this site answers under the address that greenroom view printed, and no other name",
            )
        if "origin" in headers and headers["origin"] != f"{scope['scheme']}://{hosts[0]}":
            return _refused(HTTPStatus.FORBIDDEN, "pages of other origins may not read this site")
        site = headers.get("sec-fetch-site")
        aim = (headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest"))
        follows_link = aim == ("navigate", "document")
        if site in ("cross-site", "same-site") and not follows_link:
            return _refused(HTTPStatus.FORBIDDEN, "pages of other origins may not read this site")
        return None

    def _is_own(self, host: str) -> bool:
        if self._visitors.token is not None:
            return True  # a foreign name has no cookie
        name = host.rpartition(":")[0] if not host.endswith("]") and ":" in host else host
        name = name.strip("[]").lower()
        if name in _OWN or name == self._visitors.host.lower():
            return True
        try:
            return ipaddress.ip_address(name).is_loopback
        except ValueError:
            return False

    def _admission(self, scope: Scope) -> Response | None:
        """Return what a request is told that shows no token, or shows it for the first time."""
        token = self._visitors.token
        if token is None:
            return None
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        shown = next((value for name, value in query if name == TOKEN), None)
        if shown is not None and _same(shown, token):
            rest = urlencode([pair for pair in query if pair[0] != TOKEN])
            # Two slashes at the beginning would lead to another host.
            path = "/" + scope["path"].lstrip("/\\")
            answer = RedirectResponse(f"{path}?{rest}" if rest else path, status_code=303)
            answer.set_cookie(
                self._visitors.cookie, self._visitors.session, httponly=True, samesite="strict"
            )
            return answer
        headers = Headers(scope=scope)
        scheme, _, bearer = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and _same(bearer.strip(), token):
            return None
        if self._has_cookie(headers.get("cookie", "")):
            return None
        return _refused(
            HTTPStatus.UNAUTHORIZED, "open the link that greenroom view printed: it holds a token"
        )

    def _has_cookie(self, text: str) -> bool:
        try:
            found = SimpleCookie(text).get(self._visitors.cookie)
        except CookieError:
            return False
        return found is not None and _same(found.value, self._visitors.session)


def _same(shown: str, expected: str) -> bool:
    return secrets.compare_digest(shown.encode(), expected.encode())


def _refused(status: HTTPStatus, why: str) -> Response:
    headers = {"WWW-Authenticate": "Bearer"} if status == HTTPStatus.UNAUTHORIZED else None
    return PlainTextResponse(f"{why}\n", status_code=status, headers=headers)
