"""Chain: calls the models in order; if one fails, the next takes over."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from purple_agent.case import BudgetLevel
from purple_agent.reasoners.model.brainos import BrainOs
from purple_agent.reasoners.model.completion import Completed, Completion
from purple_agent.reasoners.model.errors import ModelError, NoModelLeftError, ToolsRefusedError
from purple_agent.reasoners.model.prompts import Prompt
from purple_agent.settings import ModelChoice, ReferenceSettings

REST_S = 60.0
"""Seconds for which a model that failed is called only after the others."""
LAST_RETRIES = 2
"""Retries of the last model; before that, calling the next one is faster."""
BRAINOS = "brainos"

logger = logging.getLogger(__name__)

Prompting = Callable[[bool], Prompt]
"""The prompt with the tools on the wire (True), or with tools and form of the answer in the text."""


@dataclass(frozen=True, kw_only=True)
class Answered:
    """A model's answer, who gave it, and whether it was offered tools on the wire."""

    completed: Completed
    name: str
    native: bool


class Chain:
    """Asks the models, the most wanted first.

    Args:
        settings: The models.
        completion: Asks them.
        brainos: Called before the primary; None without one.
        monotonic: Returns seconds of a monotonic clock.
    """

    def __init__(
        self,
        settings: ReferenceSettings,
        completion: Completion,
        *,
        brainos: BrainOs | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings = settings
        self._completion = completion
        self._brainos = brainos
        self._monotonic = monotonic
        self._failed_at: dict[str, float] = {}
        self._json_only: set[ModelChoice] = set()

    async def ask(self, prompting: Prompting, level: BudgetLevel) -> Answered:
        """Return the answer of the first model that gives one.

        Raises:
            NoModelLeftError: All failed. Each failure is logged.
        """
        candidates = self._in_order(level)
        for index, candidate in enumerate(candidates):
            is_last = index == len(candidates) - 1
            try:
                answered = await self._ask_one(candidate, prompting, LAST_RETRIES if is_last else 0)
            except ModelError as error:
                name = BRAINOS if candidate is None else candidate.name
                self._failed_at[name] = self._monotonic()
                logger.warning(
                    "%s; %s", error, "no model is left" if is_last else "asking the next"
                )
                continue
            self._failed_at.pop(answered.name, None)
            return answered
        raise NoModelLeftError("every language model that could have been asked failed")

    def _in_order(self, level: BudgetLevel) -> Sequence[ModelChoice | None]:
        """Return the models, None for BrainOS; models that failed just now come last."""
        settings = self._settings
        first = (
            settings.small or settings.primary if level is BudgetLevel.SMALL else settings.primary
        )
        wanted: list[ModelChoice | None] = [first, settings.fallback]
        found: list[ModelChoice | None] = [choice for choice in wanted if choice is not None]
        # It is no small model, but where it is the only one, it is asked all the same.
        if self._brainos is not None and (level is BudgetLevel.FULL or not found):
            found.insert(0, None)
        return sorted(dict.fromkeys(found), key=self._is_resting)

    def _is_resting(self, candidate: ModelChoice | None) -> bool:
        failed_at = self._failed_at.get(BRAINOS if candidate is None else candidate.name)
        return failed_at is not None and self._monotonic() - failed_at < REST_S

    async def _ask_one(
        self, candidate: ModelChoice | None, prompting: Prompting, retries: int
    ) -> Answered:
        if candidate is None:
            return await self._ask_brainos(prompting)
        native = candidate not in self._json_only and await self._completion.takes_tools(candidate)
        try:
            return await self._complete(candidate, prompting, native=native, retries=retries)
        except ToolsRefusedError:
            answered = await self._complete(candidate, prompting, native=False, retries=retries)
            # Only now is it known that the tools were what was refused.
            self._json_only.add(candidate)
            return answered

    async def _complete(
        self, choice: ModelChoice, prompting: Prompting, *, native: bool, retries: int
    ) -> Answered:
        prompt = prompting(native).sendable()
        completed = await self._completion(
            choice, prompt.messages, tools=prompt.tools, retries=retries
        )
        return Answered(completed=completed, name=choice.name, native=native)

    async def _ask_brainos(self, prompting: Prompting) -> Answered:
        assert self._brainos is not None  # noqa: S101 - only then is it a candidate
        prompt = prompting(True).sendable()
        completed = await self._brainos(prompt.messages, tools=prompt.tools)
        return Answered(completed=completed, name=BRAINOS, native=True)
