"""Writes: whether a call that may change something is made, and what has been approved of it.

Every such call passes `gate`, whoever proposes it. May import all from `policy` to `facts.py`.
"""
