"""Orders for a player, and how long a test waits for it."""

from adk_agent.service.playing.player import RequestOrder

TIMEOUT_S = 60


def order(text):
    return RequestOrder(text=text, session_id="session-1")
