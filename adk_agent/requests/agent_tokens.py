"""Bearer tokens of registered agents, by the name of an environment variable or a file.

Only the name is kept and shown, never the token, which is read each time it is needed.
"""

from __future__ import annotations

import re
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from adk_agent.core.errors import PreflightError, RequestError
from adk_agent.core.settings import SECRET_VARIABLES, variables

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
_MOST_BYTES = 64 * 2**10


class TokenSource(BaseModel):
    """The source of an agent's bearer token: one of the two, or neither for no token."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    token_env: str | None = None
    """The name of an environment variable."""
    token_file: str | None = None
    """The absolute path of a file."""

    def __str__(self) -> str:
        if self.token_env is not None:
            return f"the environment variable {self.token_env}"
        return "no token" if self.token_file is None else f"the file {self.token_file!r}"

    def read(self, agent: str) -> str | None:
        """Return the token; None if the agent has none.

        Args:
            agent: The agent's name, for the message.

        Raises:
            PreflightError: The variable is not set, or the file has no token. Names the source.
        """
        if self == TokenSource():
            return None
        token = _of_file(self.token_file) if self.token_file else _of_variable(self.token_env)
        if token is None:
            raise PreflightError(
                f"the bearer token of {agent!r} is read from {self}, which holds none here: set it, "
                "or name the agent again without it"
            )
        return token


def checked_source(token_env: str, token_file: str) -> TokenSource:
    """Return where a token is read from; empty texts mean no token.

    The arguments are never repeated in a message, since either may hold a token by mistake.

    Raises:
        RequestError: It is no name of a variable that is set or of a file with a token, or it is
            one of Greenroom's own secrets.
    """
    if token_env and token_file:
        raise RequestError("give token_env or token_file, not both")
    if token_env in SECRET_VARIABLES:
        raise RequestError("token_env names a secret of Greenroom itself, which no agent is sent")
    if token_env and (not _VARIABLE.fullmatch(token_env) or _of_variable(token_env) is None):
        raise RequestError(
            "token_env must be the name of an environment variable that is set here and holds a "
            "bearer token; a token itself is never taken"
        )
    if token_file and _of_file(token_file) is None:
        raise RequestError(
            "token_file must be the path of a file here that holds a bearer token; a token itself "
            "is never taken"
        )
    path = str(Path(token_file).absolute()) if token_file else None
    return TokenSource(token_env=token_env or None, token_file=path)


def is_token(text: str) -> bool:
    """Tell whether a text can be a bearer token: printable ASCII without a space."""
    return bool(text) and text.isascii() and text.isprintable() and " " not in text


def text_of_variable(name: str | None) -> str | None:
    """Return the text of an environment variable; None if it has none."""
    return next((text.strip() for text in variables([name] if name else []).values()), None)


def text_of_file(path: str | None) -> str | None:
    """Return the text of a file; None if it has none, or is no small file of text."""
    if not path or "\0" in path:
        return None
    file = Path(path)
    try:
        if not file.is_file() or file.stat().st_size > _MOST_BYTES:
            return None
        return file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return None


def _of_variable(name: str | None) -> str | None:
    return _usable(text_of_variable(name))


def _of_file(path: str | None) -> str | None:
    return _usable(text_of_file(path))


def _usable(text: str | None) -> str | None:
    return text if text is not None and is_token(text) else None
