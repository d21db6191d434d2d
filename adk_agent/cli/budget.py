"""Flags for what a run may spend."""

from __future__ import annotations

import argparse
import shlex
from typing import TYPE_CHECKING

from adk_agent.cli import values
from adk_agent.core.spending import is_budget

if TYPE_CHECKING:
    from adk_agent.play.budget import Budget


def add_budget(parser: argparse.ArgumentParser) -> None:
    """Add the flags for what a run may spend."""
    parser.add_argument(
        "--max-cost",
        type=values.dollars,
        metavar="USD",
        help="begin no more trials once Greenroom's own models have cost this many US dollars",
    )
    parser.add_argument(
        "--max-tokens",
        type=values.positive,
        metavar="N",
        help="begin no more trials once Greenroom's own models have used this many tokens",
    )


def budget_of(parsed: argparse.Namespace) -> Budget:
    """Return what a run may spend."""
    from adk_agent.play.budget import Budget

    return Budget(max_cost=parsed.max_cost, max_tokens=parsed.max_tokens)


def budget_flags(parsed: argparse.Namespace) -> dict[str, str | None]:
    """Return the flags that were given, with their values; None for the others."""
    given = vars(parsed)
    limits = {"--max-cost": given.get("max_cost"), "--max-tokens": given.get("max_tokens")}
    return {flag: None if limit is None else f"{limit:.15g}" for flag, limit in limits.items()}


def raised_limit(stopped_by: str | None) -> str:
    """Return the flag that doubles the limit that ended a run; empty if none did."""
    if stopped_by is None or not is_budget(stopped_by):
        return ""
    name, limit = stopped_by.split()
    return shlex.join([f"--{name.replace('_', '-')}", f"{2 * float(limit):.15g}"])
