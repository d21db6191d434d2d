"""The reference agent as a service: dialects, sessions, A2A, and the assembly of the stages.

`wiring` alone chooses the parts. May import all but `server.py` and the modules that serve it.
"""
