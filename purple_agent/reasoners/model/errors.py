"""Errors of language models. None of these reaches the caller of the agent.

ModelError                 a model gave no usable answer
├── ModelCallError         it could not be called: no connection, a refusal, a timeout
│   └── ToolsRefusedError  it does not accept tools; it may still answer in JSON
├── ModelAnswerError       its answer cannot be read
└── NoModelLeftError       all available models failed
"""

from __future__ import annotations

from purple_agent.errors import PurpleAgentError


class ModelError(PurpleAgentError):
    """A language model gave no usable answer. The message is for the log."""


class ModelCallError(ModelError):
    """A language model could not be called."""


class ToolsRefusedError(ModelCallError):
    """A language model does not accept tools."""


class ModelAnswerError(ModelError):
    """A language model's answer cannot be read."""


class NoModelLeftError(ModelError):
    """All available models failed."""
