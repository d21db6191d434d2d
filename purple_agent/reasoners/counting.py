"""ModelTokens: the number of tokens of a text for a model, and the model's context window."""

from __future__ import annotations

from purple_agent.reasoners.model.library import load_litellm
from purple_agent.settings import ModelChoice


class ModelTokens:
    """Counts with litellm's tokenizers, without the network; call it in a thread.

    Args:
        choice: The model. For one unknown to litellm, a common tokenizer is used.
    """

    def __init__(self, choice: ModelChoice) -> None:
        self._choice = choice

    def count(self, text: str) -> int:
        """Count the tokens of a text."""
        return int(load_litellm().token_counter(model=self._choice.name, text=text))

    def window(self) -> int | None:
        """Return the model's context window in tokens; None if litellm does not know it."""
        known = load_litellm().model_cost
        about = known.get(self._choice.name) or known.get(self._choice.name.partition("/")[2]) or {}
        tokens = about.get("max_input_tokens")
        return tokens if isinstance(tokens, int) and tokens > 0 else None
