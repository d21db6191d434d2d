"""Failures: why tools are unavailable or a call failed, in words that a model may read."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from purple_agent.case import ToolResult
from purple_agent.errors import ToolsUnavailableError

MAX_TEXT = 500
"""Most characters of a server's error text to pass on."""


class Code(StrEnum):
    """The reason why an endpoint provides no tools."""

    ADDRESS = "address"
    """It is not a valid http(s) address."""
    FORBIDDEN = "forbidden"
    """Its host may not be called."""
    UNREACHABLE = "unreachable"
    TIMEOUT = "timeout"
    REDIRECT = "redirect"
    TOO_LARGE = "too_large"
    STATUS = "status"
    """An HTTP status other than success."""
    PROTOCOL = "protocol"
    """The answer is not a list of tools."""


class EndpointError(ToolsUnavailableError):
    """An endpoint cannot be used. The message may be shown to the caller and to a model.

    Args:
        code: The reason.
        message: The reason in words, without any text of the server.
        status: The HTTP status of an unusable answer, otherwise None.
    """

    def __init__(self, code: Code, message: str, *, status: int | None = None) -> None:
        self.code = code
        self.status = status
        super().__init__(message)


def no_answer(netloc: str, *, within_s: float) -> EndpointError:
    """Build the error for a timeout."""
    message = f"the tools at {netloc!r} gave no answer within {within_s:g} s"
    return EndpointError(Code.TIMEOUT, message)


class Cause(StrEnum):
    """The cause of a failed call, which says whether it may have had an effect."""

    TOOL = "tool"
    """The tool rejected it."""
    WAY = "way"
    """There was no usable answer; the call may have had an effect."""
    UNSENT = "unsent"
    """Nothing was sent."""


@dataclass(frozen=True, kw_only=True)
class CallFailure(ToolResult):
    """A failed result with its cause."""

    failed: bool = True
    cause: Cause = Cause.TOOL


def cause_of(result: ToolResult) -> Cause:
    """Return the cause of a failed result; if the provider gives none, assume a possible effect."""
    return result.cause if isinstance(result, CallFailure) else Cause.WAY


def failure_of(error: EndpointError) -> CallFailure:
    """Return the failed result for a call that an endpoint did not answer."""
    unsent = error.code in (Code.ADDRESS, Code.FORBIDDEN)
    return CallFailure(text=str(error), cause=Cause.UNSENT if unsent else Cause.WAY)


def short(text: str) -> str:
    """Return a server's error text as a printable line of up to `MAX_TEXT` characters."""
    kept = "".join(char if char.isprintable() else " " for char in text[: 4 * MAX_TEXT])
    line = " ".join(kept.split())
    return line if len(line) <= MAX_TEXT else f"{line[: MAX_TEXT - 3]}..."
