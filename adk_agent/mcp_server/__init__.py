"""The evaluation tools as a server of the Model Context Protocol, for coding assistants.

Not called `mcp`: `adk web adk_agent` puts this package's folder on the path, where it would hide the
library of that name.
"""
