"""Writes: whether a call that may change something is made, and what has been approved of it.

Every such call passes `gate`, from any part of the agent. May import all from `policy` to `facts.py`.
"""
