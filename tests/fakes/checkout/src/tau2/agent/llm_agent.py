"""Agents without a user."""

from tau2.agent.base_agent import HalfDuplexAgent


class LLMSoloAgent(HalfDuplexAgent):
    pass
