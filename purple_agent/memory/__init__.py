"""Memory of the reference agent: of a conversation and, if enabled, of earlier cases.

May import `case.py` and other top-level modules, but no other folder.
"""
