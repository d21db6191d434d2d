"""Brings benchmark tasks to A2A agents: tasks, worlds, users, conversations and their scoring.

`tau2` and `business` are what is played, `a2a` calls agents, and `testing` has agents to be called;
the modules beside them are what these have in common. Of `evals` only `trace` and `outcome` may be
imported, and of our other packages nothing.
"""
