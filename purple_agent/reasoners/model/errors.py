"""Errors of language models. None of these reaches the caller of the agent.

ModelError                 one model gave nothing that can be used
├── ModelCallError         it could not be called: no connection, a refusal, a time-out
│   └── ToolsRefusedError  it does not take a list of tools; it may still answer in JSON
├── ModelAnswerError       it answered something that cannot be read
└── NoModelLeftError       every model that could have been asked failed
"""

from __future__ import annotations

from purple_agent.errors import PurpleAgentError


class ModelError(PurpleAgentError):
    """A language model gave nothing that can be used. The message is for the log."""


class ModelCallError(ModelError):
    """A language model could not be called."""


class ToolsRefusedError(ModelCallError):
    """A language model does not take a list of tools."""


class ModelAnswerError(ModelError):
    """A language model's answer cannot be read."""


class NoModelLeftError(ModelError):
    """Every model that could have been asked failed."""
