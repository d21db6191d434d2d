"""The toolbox: where tools are found, how they are called, and what is repaired on the way.

What the name of a tool tells about it is here as well (`verbs`, `control`, `names`). May import
`case.py` and other modules beside the folders, but no other folder.
"""
