"""ScriptedModel: a language model for tests of judges and for demonstrations without a key."""

from __future__ import annotations

from collections.abc import Callable

Scripted = str | BaseException | Callable[[str], str]
"""What is said: a text, an error to raise, or a function of the prompt."""


class ScriptedModel:
    """An `AskModel` that says what it was told to say, and keeps what it was sent.

    Args:
        answers: One after the other; the last one again and again.
    """

    def __init__(self, *answers: Scripted) -> None:
        self.prompts: list[str] = []
        self._answers = answers

    async def __call__(self, prompt: str) -> str:
        """The next answer."""
        answer = self._answers[min(len(self.prompts), len(self._answers) - 1)]
        self.prompts.append(prompt)
        if isinstance(answer, BaseException):
            raise answer
        return answer if isinstance(answer, str) else answer(prompt)
