"""Reference teams: several agents that answer as one, with a coordination that is known.

`rosters` declares them as data, `running` makes one of them A2A servers. May import the modules
beside the folders that any A2A server here needs (`card.py`, `handler.py` and the like), but no
other folder; the reference agent reports its steps by `tracing` as well.
"""
