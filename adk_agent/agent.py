"""root_agent: the workflow for `adk web adk_agent` and `adk run adk_agent`.

Importing this module reads the settings and builds the agent, because that is how ADK loads one.
"""

from __future__ import annotations

from adk_agent.assembly import Assembly
from adk_agent.core.settings import Settings

root_agent = Assembly(settings=Settings.load()).root_agent()
