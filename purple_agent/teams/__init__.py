"""Reference teams: several agents that answer as one, with a coordination that is known.

`rosters` declares them as data, `running` makes one of them A2A servers.
"""
