"""Policy: rules with conditions, and the verdict that they come to over known facts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Action(StrEnum):
    """What a rule asks for, the strictest first."""

    BLOCK = "block"
    ESCALATE = "escalate"
    REQUIRE_APPROVAL = "require_approval"
    WARN = "warn"
    ALLOW = "allow"


@dataclass(frozen=True, kw_only=True)
class Policy:
    """A policy document as rules; empty for prose."""

    context: Mapping[str, Any] = field(default_factory=dict)
