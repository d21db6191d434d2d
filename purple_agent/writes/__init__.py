"""Writes: decides whether a call that may change something is made, and tracks approvals.

Every such call passes `gate`. May import everything from `policy` to `facts.py`.
"""
