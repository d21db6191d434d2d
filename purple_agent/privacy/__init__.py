"""Privacy: whether a user asks for secrets, or for what is known about other people."""
