"""ModelAsker: gets a usable answer from a language model, or says why there is none."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from evals.judge.judgment import UnusableAnswerError
from evals.judge.prompt import Prompt
from evals.statements import AskModel

T = TypeVar("T")

UNUSABLE_ANSWERS = 2
"""Unusable answers that a model may give: the second one after a complaint about the first."""


class JudgeModelError(RuntimeError):
    """There is no usable answer of the model.

    The message names the cause. It holds nothing that a model, a provider or the transcript said.
    """


@dataclass(frozen=True, kw_only=True)
class ModelAsker:
    """Asks with a limit of time, repeats what failed, and has unusable answers repaired once.

    Args:
        ask: The language model.
        timeout_s: For one call, in seconds.
        attempts: How often one prompt is sent when the call fails or takes too long.
    """

    ask: AskModel
    timeout_s: float
    attempts: int

    def __post_init__(self) -> None:
        if self.timeout_s <= 0 or self.attempts < 1:
            raise ValueError(
                f"timeout_s {self.timeout_s} must be above 0, attempts {self.attempts} at least 1"
            )

    async def obtain(self, prompt: Prompt, read: Callable[[str], T]) -> T:
        """Return the result of `read` for the model's answer.

        Args:
            prompt: What is asked.
            read: Raises UnusableAnswerError where the answer cannot be used.

        Raises:
            JudgeModelError: the calls failed, or no answer could be used.
        """
        text = prompt.text
        complaint = ""
        for _ in range(UNUSABLE_ANSWERS):
            answer = await self._answer(text)
            try:
                return read(answer)
            except UnusableAnswerError as error:
                complaint = str(error)
                # A model at temperature 0 repeats its answer unless the prompt changes.
                text = prompt.again(complaint)
        raise JudgeModelError(
            f"its answer could not be used, {UNUSABLE_ANSWERS} times: {complaint}"
        )

    async def _answer(self, text: str) -> str:
        cause = ""
        for _ in range(self.attempts):
            try:
                async with asyncio.timeout(self.timeout_s):
                    answer: object = await self.ask(text)
            except TimeoutError:
                cause = f"no answer within {self.timeout_s:g} s"
            except Exception as error:  # noqa: BLE001 - whatever a model's client raises
                # The class alone: messages of providers hold keys and quote the prompt.
                cause = f"the call failed with {type(error).__name__}"
            else:
                if isinstance(answer, str):
                    return answer
                cause = f"the call returned a {type(answer).__name__}, not text"
        raise JudgeModelError(f"{cause} (tried {self.attempts} times)")
