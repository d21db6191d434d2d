"""Reference agents to evaluate. Imports nothing of the assessor and is imported by nobody.

`python -m purple_agent --list` names them; `purple_agent.server.build_app` makes one of them an
ASGI application. The folders and what they share, the lowest first, where each may import those
before it: `policy` and `process`, `case.py`, `toolbox`, `facts.py`, `writes`, then `memory`,
`reasoners` and `privacy`, then `stages` and `teams`, then `reference`, and `server.py`.
"""
