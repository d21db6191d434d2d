"""The reference agent as a service: dialects, sessions, A2A, and the stages put together.

`wiring` is the one place that chooses its parts. May import all but `server.py` and what serves it.
"""
