"""Jobs for a backend, and how long a test waits for it."""

from adk_agent.requests.intent import Situation
from adk_agent.service.playing.backend import Job

TIMEOUT_S = 60


def job(text, **situation):
    return Job(text=text, session_id="session-1", situation=Situation(**situation))
