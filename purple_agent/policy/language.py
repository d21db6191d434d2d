"""The language of conditions: `expense.amount > 500 && request.status === 'approved'`.

From loosest to tightest: `||`, `&&`, one comparison (`=== !== == != >= <= > <`; chains are an
error), `!`, and then a path, a decimal, a text in single or double quotes, `true`, `false`, `null`
or a condition in parentheses. `purple_agent.policy.syntax` describes the meaning.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from purple_agent.policy.syntax import Condition, ConditionError

if TYPE_CHECKING:
    from lark.exceptions import UnexpectedInput

__all__ = ["MAX_CHARS", "ConditionError", "read_condition"]

MAX_CHARS = 2_000


def read_condition(text: str) -> Condition:
    """Parse a condition.

    Raises:
        ConditionError: It is invalid, or too long, deep or large.
    """
    # lark takes a third of a second to import, and most policies are prose.
    from lark.exceptions import UnexpectedInput

    from purple_agent.policy.grammar import parser

    if len(text) > MAX_CHARS:
        raise ConditionError(f"has {len(text)} characters, but at most {MAX_CHARS} are allowed")
    try:
        root: Any = parser().parse(text)
    except UnexpectedInput as wrong:
        raise ConditionError(_where(text, wrong)) from wrong
    return Condition(text, root)


def _where(text: str, wrong: UnexpectedInput) -> str:
    """Say where parsing stopped, quoting only a few characters of the policy."""
    at: Any = wrong.pos_in_stream
    token = getattr(wrong, "token", None)
    if at is None or not 0 <= at < len(text) or getattr(token, "type", "") == "$END":
        return "ends too early"
    return f"has an unexpected {text[at : at + 12]!r} at character {at + 1}"
