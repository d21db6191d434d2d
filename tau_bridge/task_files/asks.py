"""Checks of who asked whom in a team."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BaseModel, ConfigDict, model_validator

from tau_bridge.task_files.texts import Text, some, stands_in

TEAM_KINDS: Final = ("asks", "not_asks", "asks_in_order")
"""The names of these checks."""
_NOT_VISIBLE: Final = "no call between the members was visible; see docs/visible-teams.md"
_MOST_SHOWN: Final = 10
_Verdict = tuple[bool | None, str | None]


@dataclass(frozen=True, kw_only=True)
class TeamCall:
    """A call between two members of a team, and what was asked."""

    caller: str
    callee: str
    text: str = ""

    def __str__(self) -> str:
        return f"{self.caller} -> {self.callee}"


class AskPattern(BaseModel):
    """Calls of one member to another; with `contains`, those whose text has it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    caller: str
    callee: str
    contains: Annotated[Text, AfterValidator(some)] | None = None

    @model_validator(mode="before")
    @classmethod
    def _by_arrow(cls, given: Any) -> Any:
        if not isinstance(given, str):
            return given
        names = [name.strip() for name in given.split("->")]
        if len(names) != 2 or not all(names):
            raise ValueError(
                f"a call between members is written 'planner -> coder', not {given[:80]!r}"
            )
        return {"caller": names[0], "callee": names[1]}

    def fits(self, call: TeamCall) -> bool:
        """Tell whether a call is one of these."""
        asked = self.contains is None or stands_in(call.text, self.contains)
        return asked and (call.caller, call.callee) == (self.caller, self.callee)

    def __str__(self) -> str:
        about = "" if self.contains is None else f" ({self.contains!r})"
        return f"{self.caller} -> {self.callee}{about}"


def asked(value: Sequence[AskPattern], calls: Sequence[TeamCall] | None) -> _Verdict:
    """Tell whether each of some calls was made."""
    if calls is None:
        return None, _NOT_VISIBLE
    missing = [each for each in value if not any(each.fits(call) for call in calls)]
    return not missing, f"{_list(missing)} was not seen; {_seen(calls)}"


def not_asked(value: Sequence[AskPattern], calls: Sequence[TeamCall] | None) -> _Verdict:
    """Tell whether none of some calls was made."""
    if calls is None:
        return None, _NOT_VISIBLE
    made = [each for each in value if any(each.fits(call) for call in calls)]
    return not made, f"{_list(made)} was seen"


def asked_in_order(value: Sequence[AskPattern], calls: Sequence[TeamCall] | None) -> _Verdict:
    """Tell whether some calls began in this order, others between them."""
    if calls is None:
        return None, _NOT_VISIBLE
    left = iter(calls)
    for each in value:
        if not any(each.fits(call) for call in left):
            return False, f"{each} was not seen in its turn; {_seen(calls)}"
    return True, None


def _seen(calls: Sequence[TeamCall]) -> str:
    shown = ", ".join(map(str, calls[:_MOST_SHOWN]))
    more = f" and {len(calls) - _MOST_SHOWN} more" if len(calls) > _MOST_SHOWN else ""
    return f"seen were {shown}{more}" if shown else "no call between the members was seen"


def _list(patterns: Sequence[AskPattern]) -> str:
    return " and ".join(map(str, patterns))
