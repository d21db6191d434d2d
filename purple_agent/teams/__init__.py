"""Reference teams: several agents that answer as one, with known coordination.

`rosters` declares them as data, `running` makes A2A servers of a team. May import the top-level
modules for A2A servers (`card.py`, `handler.py` and the like), but no other folder. The reference
agent uses `tracing` too.
"""
