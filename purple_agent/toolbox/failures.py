"""Failures: why tools cannot be had or a call came to nothing, in words that a model may read."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from purple_agent.case import ToolResult
from purple_agent.errors import ToolsUnavailableError

MAX_TEXT = 500
"""Characters of what a server says about a failure that are passed on."""


class Code(StrEnum):
    """The reason why an endpoint gives no tools."""

    ADDRESS = "address"
    """No http(s) address of a host."""
    FORBIDDEN = "forbidden"
    """Its host may not be called."""
    UNREACHABLE = "unreachable"
    TIMEOUT = "timeout"
    REDIRECT = "redirect"
    TOO_LARGE = "too_large"
    STATUS = "status"
    """An HTTP status that is no success."""
    PROTOCOL = "protocol"
    """The answer is no list of tools."""


class EndpointError(ToolsUnavailableError):
    """An endpoint cannot be used. The message is fit for the caller and for a model.

    Args:
        code: Why.
        message: The same in words. Nothing that a server wrote stands in it.
        status: The HTTP status of an answer that is of no use, otherwise None.
    """

    def __init__(self, code: Code, message: str, *, status: int | None = None) -> None:
        self.code = code
        self.status = status
        super().__init__(message)


def no_answer(netloc: str, *, within_s: float) -> EndpointError:
    """Build the error of tools that took too long."""
    message = f"the tools at {netloc!r} gave no answer within {within_s:g} s"
    return EndpointError(Code.TIMEOUT, message)


class Cause(StrEnum):
    """The cause of a failed call, which tells what is known of its effect."""

    TOOL = "tool"
    """The tool said no."""
    WAY = "way"
    """No answer of use came back; whether the call had an effect is not known."""
    UNSENT = "unsent"
    """Nothing was sent."""


@dataclass(frozen=True, kw_only=True)
class CallFailure(ToolResult):
    """A failed result that says what failed it."""

    failed: bool = True
    cause: Cause = Cause.TOOL


def cause_of(result: ToolResult) -> Cause:
    """Return what failed a result. Where the provider does not tell, an effect is possible."""
    return result.cause if isinstance(result, CallFailure) else Cause.WAY


def failure_of(error: EndpointError) -> CallFailure:
    """Return the result of a call that an endpoint did not answer."""
    unsent = error.code in (Code.ADDRESS, Code.FORBIDDEN)
    return CallFailure(text=str(error), cause=Cause.UNSENT if unsent else Cause.WAY)


def short(text: str) -> str:
    """Return a server's words about a failure: a printable line of up to `MAX_TEXT` characters."""
    kept = "".join(char if char.isprintable() else " " for char in text[: 4 * MAX_TEXT])
    line = " ".join(kept.split())
    return line if len(line) <= MAX_TEXT else f"{line[: MAX_TEXT - 3]}..."
