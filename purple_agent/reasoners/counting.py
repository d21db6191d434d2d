"""ModelTokens: how many tokens a text takes for a model, and how many it can read at once."""

from __future__ import annotations

from purple_agent.reasoners.model.library import load_litellm
from purple_agent.settings import ModelChoice


class ModelTokens:
    """Counts by litellm's tokenizers, without the network; call it in a thread.

    Args:
        choice: The model. One that litellm does not know is counted by a common tokenizer.
    """

    def __init__(self, choice: ModelChoice) -> None:
        self._choice = choice

    def count(self, text: str) -> int:
        """Count the tokens of a text."""
        return int(load_litellm().token_counter(model=self._choice.name, text=text))

    def window(self) -> int | None:
        """Return how many tokens the model can read at once; None if litellm does not know."""
        known = load_litellm().model_cost
        about = known.get(self._choice.name) or known.get(self._choice.name.partition("/")[2]) or {}
        tokens = about.get("max_input_tokens")
        return tokens if isinstance(tokens, int) and tokens > 0 else None
