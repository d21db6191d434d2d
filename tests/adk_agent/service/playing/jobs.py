"""Orders for a backend, and how long a test waits for it."""

from adk_agent.service.playing.backend import RequestJob

TIMEOUT_S = 60


def job(text):
    return RequestJob(text=text, session_id="session-1")
