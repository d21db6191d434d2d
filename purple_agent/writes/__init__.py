"""Writes: whether a call that may change something is made, and what has been approved of it."""
