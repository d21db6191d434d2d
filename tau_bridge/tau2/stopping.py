"""The tokens by which a τ² user ends a conversation."""

from __future__ import annotations

import re
from typing import Final

from tau_bridge.messages import UserMessage

STOP: Final = "###STOP###"
"""The goal is reached, or the user gives up. Also what an agent that works alone says at the end."""
TRANSFER: Final = "###TRANSFER###"
"""The user was handed over to a human agent."""
OUT_OF_SCOPE: Final = "###OUT-OF-SCOPE###"
"""The scenario does not say how to go on."""

STOP_TOKENS: Final = (STOP, TRANSFER, OUT_OF_SCOPE)


def without_stop_tokens(text: str) -> str:
    """Return a text that somebody else wrote, so that saying it ends nothing.

    What is left of a token cannot make up another one, since no three signs `#` remain together.
    """
    return re.sub("#{3,}", "", text)


def is_stop(message: UserMessage) -> bool:
    """Tell whether this turn of the user ends the conversation; one with tool calls never does."""
    return not message.is_tool_call and any(token in message.text for token in STOP_TOKENS)
