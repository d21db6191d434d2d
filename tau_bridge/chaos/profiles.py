"""ChaosPlan: which faults are injected, and how often."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, field_validator

from tau_bridge.errors import nearest

if TYPE_CHECKING:
    from collections.abc import Mapping

FaultKind = Literal[
    "lost_reply",
    "delay",
    "busy",
    "cut_stream",
    "duplicate",
    "tool_error",
    "tool_timeout",
    "tool_fields",
    "prompt",
    "other_names",
    "member_lost_reply",
    "member_busy",
    "member_delay",
    "member_duplicate",
]
Family = Literal["network", "duplicates", "tools", "prompts", "names", "members"]
"""Faults that are played together, apart from the others, so that a loss has one cause."""

FAMILIES: Final[Mapping[Family, tuple[FaultKind, ...]]] = MappingProxyType(
    {
        "network": ("lost_reply", "delay", "busy", "cut_stream"),
        "duplicates": ("duplicate",),
        "tools": ("tool_error", "tool_timeout", "tool_fields"),
        "prompts": ("prompt",),
        "names": ("other_names",),
        "members": ("member_lost_reply", "member_busy", "member_delay", "member_duplicate"),
    }
)
ALL: Final = "all"
_USUAL: Final[Mapping[FaultKind, float]] = MappingProxyType(
    {
        "lost_reply": 0.3,
        "delay": 0.1,
        "busy": 0.2,
        "cut_stream": 0.2,
        "duplicate": 0.5,
        "tool_error": 0.3,
        "tool_timeout": 0.1,
        "tool_fields": 0.3,
        "prompt": 1.0,
        "other_names": 1.0,
        "member_lost_reply": 0.2,
        "member_busy": 0.2,
        "member_delay": 0.1,
        "member_duplicate": 0.2,
    }
)
PROFILES: Final[tuple[str, ...]] = (*FAMILIES, ALL)


class ChaosPlan(BaseModel):
    """The rate of each fault: of a message, of a tool's call, or of a trial. 0 leaves it out."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rates: dict[FaultKind, float] = Field(min_length=1)

    @field_validator("rates")
    @classmethod
    def _are_shares(cls, rates: dict[FaultKind, float]) -> dict[FaultKind, float]:
        for kind, rate in rates.items():
            if not 0 <= rate <= 1:
                raise ValueError(f"the rate of {kind} is {rate:g}: write a share from 0 to 1")
        if not any(rates.values()):
            raise ValueError("every rate is 0, so nothing would be injected")
        return rates

    @property
    def families(self) -> tuple[Family, ...]:
        """Return the families that have a fault with a rate above 0."""
        return tuple(family for family in FAMILIES if self.of(family))

    def of(self, family: Family) -> dict[FaultKind, float]:
        """Return the rates of a family's faults that are above 0."""
        return {kind: rate for kind in FAMILIES[family] if (rate := self.rates.get(kind, 0.0))}

    def __str__(self) -> str:
        """Return the plan as `parse_chaos` reads it: profiles, or the rates."""
        names = ",".join(self.families)
        for each in (ALL, names):
            if profile(each) == self:
                return each
        return ",".join(f"{kind}={rate:g}" for kind, rate in self.rates.items())


def profile(text: str) -> ChaosPlan:
    """Return a named profile, or several together: `network`, `network,tools`.

    Raises:
        ValueError: There is none of a name.
    """
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in PROFILES:
            raise ValueError(f"there is no profile of faults {name!r}: {nearest(name, PROFILES)}")
    asked = FAMILIES if ALL in names else [family for family in FAMILIES if family in names]
    return ChaosPlan(rates={kind: _USUAL[kind] for family in asked for kind in FAMILIES[family]})


def chaos_text(value: str | Mapping[str, object]) -> str:
    """Return profiles, or rates by fault, as `parse_chaos` takes them."""
    if isinstance(value, str):
        return value
    return ",".join(f"{name}={share}" for name, share in value.items())


def parse_chaos(text: str) -> ChaosPlan:
    """Read names of profiles, or rates such as `lost_reply=0.5,tool_error=0.2`.

    Raises:
        ValueError: It is neither; the message says what is wrong.
    """
    if "=" not in text:
        return profile(text)
    rates: dict[FaultKind, float] = {}
    for each in text.split(","):
        name, _, share = (part.strip() for part in each.partition("="))
        kind = next((kind for kind in get_args(FaultKind) if kind == name), None)
        if kind is None:
            raise ValueError(f"there is no fault {name!r}: {nearest(name, get_args(FaultKind))}")
        try:
            rates[kind] = float(share)
        except ValueError:
            raise ValueError(
                f"the rate of {kind} is {share!r}: write a share from 0 to 1"
            ) from None
    try:
        return ChaosPlan(rates=rates)
    except ValueError as exc:  # pydantic's, which quotes more than a person needs
        errors = getattr(exc, "errors", None)
        reason = errors()[0]["msg"] if errors is not None else str(exc)
        raise ValueError(str(reason).removeprefix("Value error, ")) from None
