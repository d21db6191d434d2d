"""Memory of the reference agent: of a conversation, and, where it may, of earlier cases.

May import `case.py` and other modules beside the folders, but no other folder.
"""
