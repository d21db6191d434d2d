"""Privacy: whether a user asks for secrets, or for what is known about other people.

Entered by `guard`. Words and a small network that reads them; imports nothing else of
`purple_agent`.
"""
