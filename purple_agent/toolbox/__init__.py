"""The toolbox: finds tools, calls them, and repairs calls.

It also interprets the names of tools (`verbs`, `control`, `names`). May import `case.py` and other
top-level modules, but no other folder.
"""
