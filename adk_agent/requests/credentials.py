"""Credentials of agents, by the names of environment variables and files.

One form for flags, configuration files, registered agents and Python: `NAME=VARIABLE` or
`NAME=@FILE`, where NAME says how the value is sent. Only the form is kept and shown, never the
value, which is read each time it is needed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict

from adk_agent.core.errors import PreflightError, RequestError
from adk_agent.core.settings import SECRET_VARIABLES
from adk_agent.requests.agent_tokens import text_of_file, text_of_variable
from tau_bridge.a2a.credentials import NONE, CredentialError, Credentials

FORMS = (
    "bearer=VARIABLE, basic=VARIABLE (of NAME:PASSWORD), header:NAME=VARIABLE, query:NAME=VARIABLE,"
    " cookie:NAME=VARIABLE, oauth2:TOKEN_URL#SCOPES=VARIABLE (of ID:SECRET) or certificate=@FILE;"
    " @FILE may stand for each VARIABLE"
)
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_SPLIT = re.compile(r"(?P<how>oauth2:.*?(?==@)|oauth2:.*|[^=]*?)=(?P<source>@.+|[^=]*)", re.DOTALL)
_NAMED = ("header", "query", "cookie", "oauth2")
_ALONE = ("bearer", "basic", "certificate")
_OWN_HEADERS = frozenset(
    ["host", "content-length", "content-type", "transfer-encoding", "connection", "accept",
     "accept-encoding", "a2a-version", "a2a-extensions", "traceparent", "cookie"]
)  # fmt: skip


class CredentialSource(BaseModel):
    """One credential of an agent: how it is sent, and where its value is."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: str
    name: str = ""
    """The name of the header, key or cookie; for OAuth 2.0 the address that gives tokens."""
    scope: str = ""
    variable: str | None = None
    file: str | None = None
    """An absolute path; one of the two is there."""

    def __str__(self) -> str:
        scope = f"#{self.scope.replace(' ', ',')}" if self.scope else ""
        name = f":{self.name}{scope}" if self.name else ""
        return f"{self.kind}{name}={self.variable or f'@{self.file}'}"

    def read(self, agent: str) -> Credentials:
        """Return the credential.

        Args:
            agent: The agent's name, for the message.

        Raises:
            PreflightError: The variable is not set, or the file has no text.
            RequestError: The value cannot be sent.
        """
        where = f"{self}, a credential of {agent!r}"
        if self.kind == "certificate":
            return _made(where, Credentials.of_certificate, Path(self.file or ""))
        value = text_of_variable(self.variable) if self.variable else text_of_file(self.file)
        if not value:
            raise PreflightError(f"{where}, has no value here: set it")
        if self.kind in ("bearer", "basic"):
            made = Credentials.of_bearer if self.kind == "bearer" else Credentials.of_basic
            return _made(where, made, value)
        if self.kind == "oauth2":
            return _made(where, Credentials.of_client, self.name, value, self.scope)
        named = {
            "header": Credentials.of_header,
            "query": Credentials.of_query,
            "cookie": Credentials.of_cookie,
        }
        return _made(where, named[self.kind], self.name, value)


def parse_credential(text: str, *, base: Path | None = None) -> CredentialSource:
    """Return the credential that a text names.

    What follows the `=` is never repeated in a message, since it may be a secret by mistake.

    Args:
        text: `NAME=VARIABLE` or `NAME=@FILE`.
        base: The folder that paths are relative to; None for the working directory.

    Raises:
        RequestError: It names none.
    """
    how, source = _halves(text)
    kind, _, name = how.partition(":")
    if kind not in (*_NAMED, *_ALONE) or not source:
        raise RequestError(f"a credential is one of {FORMS}")
    if (kind in _NAMED) != bool(name):
        missing = "needs a name after a colon" if kind in _NAMED else "takes no name"
        raise RequestError(f"the credential {kind!r} {missing}: {FORMS}")
    name, scope = _checked_name(kind, name)
    if source.startswith("@"):
        path = str(((base or Path.cwd()) / Path(source[1:]).expanduser()).absolute())
        return CredentialSource(kind=kind, name=name, scope=scope, file=path)
    if kind == "certificate":
        raise RequestError("the credential 'certificate' is a file: certificate=@FILE")
    if source in SECRET_VARIABLES:
        raise RequestError(f"{kind}=... names a secret of Greenroom itself, which no agent is sent")
    if not _VARIABLE.fullmatch(source) or not text_of_variable(source):
        raise RequestError(
            f"{kind}=... takes the name of an environment variable that is set here, or @FILE;"
            " the secret itself is never taken"
        )
    return CredentialSource(kind=kind, name=name, scope=scope, variable=source)


def read_all(sources: Iterable[CredentialSource], agent: str) -> Credentials:
    """Return all of an agent's credentials together.

    Raises:
        PreflightError: One is not there; the message names it.
        RequestError: One cannot be sent.
    """
    found = NONE
    for source in sources:
        found |= source.read(agent)
    return found


def _halves(text: str) -> tuple[str, str]:
    """Split a credential; the address of OAuth 2.0 may have an equals sign itself."""
    found = _SPLIT.fullmatch(text.strip())
    return (found["how"].strip(), found["source"].strip()) if found else ("", "")


def _checked_name(kind: str, name: str) -> tuple[str, str]:
    """Return the name, and of OAuth 2.0 the scopes behind it."""
    if kind == "header" and (not _HEADER.fullmatch(name) or name.lower() in _OWN_HEADERS):
        raise RequestError(f"{name!r} is no header that can be given here")
    if kind == "cookie" and not _HEADER.fullmatch(name):
        raise RequestError(f"{name!r} is no name of a cookie")
    if kind != "oauth2":
        return name, ""
    url, _, scopes = name.partition("#")
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc:
        raise RequestError("oauth2: needs the http or https address that gives tokens")
    return url, " ".join(filter(None, scopes.split(",")))


def _made(where: str, make: Callable[..., Credentials], *values: object) -> Credentials:
    try:
        return make(*values)
    except CredentialError as error:
        raise RequestError(f"{where}, cannot be used: {error}") from None
