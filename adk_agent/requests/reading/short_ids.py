"""whole_id: the id that a request has whole, or means by its number alone."""

from __future__ import annotations

from collections.abc import Iterable

from adk_agent.requests.reading.refusal import Refusal


def whole_id(said: str, ids: Iterable[str], *, what: str, shown_by: str) -> str:
    """An id of a bundled domain, where the text has it whole (`bp07_x`) or its number (`bp07`).

    Args:
        said: What stands in the text.
        ids: All of the domain.
        what: What an id is of, in words.
        shown_by: The command that lists them.

    Raises:
        Refusal: `bad-number` where there is none.
    """
    known = tuple(ids)
    found = [each for each in known if each == said or each.startswith(f"{said}_")]
    if len(found) == 1:
        return found[0]
    if "_" in said:
        return said  # planning names the nearest
    raise Refusal(
        "bad-number",
        f"there is no {what} {said!r}: `{shown_by}` shows their ids, of which the first is "
        f"{known[0]!r}",
    )
