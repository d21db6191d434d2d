"""Stage 1, the token budget: decides which models may still be used."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from dataclasses import replace

from anyio import to_thread

from purple_agent.case import BudgetLevel, Case, Dialect, Session
from purple_agent.settings import ReferenceSettings
from purple_agent.tokens import rough_count

logger = logging.getLogger(__name__)

SMALL_FROM = 0.8
"""The share of a limit from which the small model is used."""

TokenCounter = Callable[[str], int]
"""Counts the tokens of a text."""


def spend_limit(settings: ReferenceSettings, dialect: Dialect) -> int:
    """Return the tokens that a session may spend on models in total."""
    return settings.tau2_tokens if dialect is Dialect.TAU2 else settings.business_tokens


def level_for(used: int, limit: int) -> BudgetLevel:
    """Return the level for the used tokens: `SMALL` from four fifths, `NONE` from the limit."""
    if used >= limit:
        return BudgetLevel.NONE
    return BudgetLevel.SMALL if used >= SMALL_FROM * limit else BudgetLevel.FULL


class BudgetStage:
    """Compares the next prompt with the model's context window and the session's remaining tokens.

    Without a model nothing is counted.

    Args:
        settings: The settings with models and limits.
        counter: Counts tokens.
        window: Returns the primary model's context window in tokens, or None if unknown. Both are
            called in a thread, since they may be slow; if one fails, the rough count and no window
            are used.
    """

    def __init__(
        self,
        settings: ReferenceSettings,
        *,
        counter: TokenCounter = rough_count,
        window: Callable[[], int | None] | None = None,
    ) -> None:
        self._settings = settings
        self._counter = counter
        self._window = window

    async def __call__(self, case: Case) -> Case:
        """Set the budget level of the case."""
        if self._settings.primary is None and self._settings.brainos_url is None:
            return case
        prompt, window = await to_thread.run_sync(self._measured, next_prompt(case))
        level = self.level_left(case.session, prompt_tokens=prompt)
        if window is not None:
            level = level.lesser(level_for(prompt, window))
        return replace(case, budget_level=level)

    def level_left(self, session: Session, *, prompt_tokens: int = 0) -> BudgetLevel:
        """Return the level left after a session's spent tokens and the coming prompt."""
        limit = spend_limit(self._settings, session.dialect)
        return level_for(session.spent_tokens + prompt_tokens, limit)

    def _measured(self, prompt: str) -> tuple[int, int | None]:
        """Return the tokens of a prompt and of the model's window."""
        try:
            return self._counter(prompt), self._window() if self._window else None
        except Exception:
            logger.exception("cannot count tokens; using a quarter of the characters instead")
            return rough_count(prompt), None


def next_prompt(case: Case) -> str:
    """Return the text that a model will read for this message."""
    session = case.session
    parts = [session.policy_text, session.summary]
    for spec in session.specs:
        parts += [spec.name, spec.description, json.dumps(spec.parameters, default=str)]
    for entry in session.entries:
        parts.append(entry.text)
        if entry.result is not None:
            parts.append(entry.result.text)
        elif entry.call is not None:
            parts.append(json.dumps(entry.call.arguments, default=str))
    return "\n".join([*parts, case.incoming.text])
