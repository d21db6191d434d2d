"""ModelRewording: a user's first words in other words, by the model that plays users."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tau_bridge.benchmark import MODEL_USER
from tau_bridge.tau2.model_user import RecordedModel

if TYPE_CHECKING:
    from tau_bridge.benchmark import UserModel
    from tau_bridge.recorder import TraceRecorder

PROMPT: Final = (
    "Rewrite the customer's message below in other words, as another person with the same request "
    "would write it. Keep every name, id, number, amount and date exactly as it is, and add none. "
    "Ask for the same things and nothing else. Answer with the message alone."
)


class ModelRewording:
    """Rewords the first words of one conversation. Its calls are steps of the trace."""

    def __init__(self, model: UserModel, recorder: TraceRecorder) -> None:
        self.name = f"{MODEL_USER}{model.name}"
        self._model = RecordedModel(model.completion, model.name, recorder)

    async def __call__(self, text: str) -> str:
        """Return a text in other words.

        Raises:
            UserModelError: The model could not be called, or answered with nothing.
        """
        chat = [{"role": "system", "content": PROMPT}, {"role": "user", "content": text}]
        return (await self._model.turn(chat, ())).text.strip()
