"""The language of conditions: `expense.amount > 500 && request.status === 'approved'`.

From loosest to tightest: `||`, `&&`, one comparison (`=== !== == != >= <= > <`; a chain of them is
an error), `!`, and then a path, a decimal, a text in either kind of quotes, `true`, `false`, `null`
or a condition in parentheses. What conditions mean is told in `purple_agent.policy.syntax`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from purple_agent.policy.syntax import Condition, ConditionError

if TYPE_CHECKING:
    from lark.exceptions import UnexpectedInput

__all__ = ["MAX_CHARS", "ConditionError", "read_condition"]

MAX_CHARS = 2_000


def read_condition(text: str) -> Condition:
    """Read a condition.

    Raises:
        ConditionError: it spells none, or one that is longer, deeper or larger than is taken.
    """
    # lark takes a third of a second to import, and most policies are prose.
    from lark.exceptions import UnexpectedInput

    from purple_agent.policy.grammar import parser

    if len(text) > MAX_CHARS:
        raise ConditionError(f"has {len(text)} characters, and at most {MAX_CHARS} are read")
    try:
        root: Any = parser().parse(text)
    except UnexpectedInput as wrong:
        raise ConditionError(_where(text, wrong)) from wrong
    return Condition(text, root)


def _where(text: str, wrong: UnexpectedInput) -> str:
    """Say where reading stopped. Nothing else that a policy's author wrote is repeated."""
    at: Any = wrong.pos_in_stream
    token = getattr(wrong, "token", None)
    if at is None or not 0 <= at < len(text) or getattr(token, "type", "") == "$END":
        return "ends too early"
    return f"has {text[at : at + 12]!r} where it is not expected, at character {at + 1}"
