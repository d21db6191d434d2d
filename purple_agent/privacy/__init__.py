"""Privacy: detects requests for secrets or for data about other people.

The entry point is `guard`. Imports nothing else of `purple_agent`.
"""
