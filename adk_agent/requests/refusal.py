"""Refusal: the error for a request that cannot be read as an evaluation."""

from __future__ import annotations

from typing import Literal

from adk_agent.core.errors import RequestError

RefusalCode = Literal[
    "not-an-evaluation",
    "no-agent",
    "no-domain",
    "unknown-agent",
    "unknown-domain",
    "unknown-task",
    "unknown-split",
    "ambiguous",
    "contradiction",
    "bad-number",
    "bad-url",
    "bad-json",
    "bad-config",
    "unsupported",
    "injection",
    "unknown-topic",
]


class Refusal(RequestError):  # noqa: N818  # a verdict on a request; its code says which
    """A request that cannot be read as one evaluation.

    Args:
        code: The kind of problem, for programs.
        message: What is wrong, with the value, and what to write instead.
    """

    def __init__(self, code: RefusalCode, message: str) -> None:
        self.code: RefusalCode = code
        super().__init__(message)
