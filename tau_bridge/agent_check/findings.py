"""Finding, Check and AgentCheck: what a check of an agent came to."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict

Status = Literal["ok", "warning", "fails", "skipped"]
"""`fails`: it cannot be evaluated, or does not do what its card declares. `warning`: it can be
evaluated, and something should be looked at."""
CheckName = Literal[
    "reach",
    "card",
    "addresses",
    "interfaces",
    "authentication",
    "streaming",
    "text_wire",
    "context",
    "clock",
    "latency",
    "signature",
    "extensions",
]
Verdict = Literal["ready", "fails", "unreachable"]
SCHEMA_VERSION: Final = "1"
MAX_FINDINGS: Final = 20
"""Findings of one check that are kept; an agent chooses how much there is to find."""
MAX_QUOTED: Final = 120
"""Characters of an agent's own words in a finding."""

_BY_WEIGHT: Final[tuple[Status, ...]] = ("fails", "warning", "ok", "skipped")


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Finding(_Frozen):
    """One thing that was found, and what to do about it; nothing where all is well."""

    status: Status
    found: str
    advice: str = ""


class Check(_Frozen):
    """One check. Its status is that of its worst finding."""

    name: CheckName
    status: Status
    findings: tuple[Finding, ...]

    @classmethod
    def of(cls, name: CheckName, findings: Iterable[Finding]) -> Check:
        """Make a check of its findings, at least one; the worst come first, and too many are cut."""
        found = sorted(findings, key=lambda each: _BY_WEIGHT.index(each.status))
        worst = found[0].status
        more = len(found) - MAX_FINDINGS
        if more > 0:
            found = [*found[:MAX_FINDINGS], Finding(status=worst, found=f"and {more} more")]
        return cls(name=name, status=worst, findings=tuple(found))


class AgentCheck(_Frozen):
    """The check of one agent.

    Args:
        agent: Its address.
        agent_name: The name in its card; None where that could not be read.
        checked_at: When the check began.
        verdict: `ready` without a failure, `unreachable` where nothing answered at all.
        messages_sent: How many messages the agent was sent; each may have cost model calls.
        checks: In the order in which they are shown.
    """

    schema_version: Literal["1"] = SCHEMA_VERSION
    agent: str
    agent_name: str | None
    checked_at: datetime
    verdict: Verdict
    messages_sent: int
    checks: tuple[Check, ...]

    def rewritten(self, rewrite: Callable[[str], str]) -> AgentCheck:
        """Return the same with every text of an agent's passed through `rewrite`."""
        checks = tuple(
            check.model_copy(
                update={
                    "findings": tuple(
                        each.model_copy(
                            update={"found": rewrite(each.found), "advice": rewrite(each.advice)}
                        )
                        for each in check.findings
                    )
                }
            )
            for check in self.checks
        )
        name = None if self.agent_name is None else rewrite(self.agent_name)
        return self.model_copy(update={"checks": checks, "agent_name": name})


def ok(found: str) -> Finding:
    """Make a finding that needs nothing."""
    return Finding(status="ok", found=found)


def warning(found: str, advice: str = "") -> Finding:
    """Make a finding that should be looked at."""
    return Finding(status="warning", found=found, advice=advice)


def fails(found: str, advice: str = "") -> Finding:
    """Make a finding that has to be repaired."""
    return Finding(status="fails", found=found, advice=advice)


def skipped(why: str, advice: str = "") -> Finding:
    """Make the finding of a check that was not made."""
    return Finding(status="skipped", found=why, advice=advice)


def one_line(text: str, most: int = MAX_QUOTED) -> str:
    """Put an agent's words on one line, shortened."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[:most]} ..."


def quote(text: str, most: int = MAX_QUOTED) -> str:
    """Quote an agent's words on one line, shortened."""
    return repr(one_line(text, most))


def counted(count: int, noun: str) -> str:
    """Write a number with its noun: `1 event`, `2 events`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
