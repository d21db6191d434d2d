"""Reference agents to evaluate. Imports nothing of the assessor and is imported by nobody.

`python -m purple_agent --list` names them; `purple_agent.server.build_app` makes one of them an
ASGI application.
"""
