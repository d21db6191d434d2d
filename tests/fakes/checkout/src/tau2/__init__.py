"""A tiny official engine, with the names that a worker uses. It prints, as the real one does."""

print("a banner that is no message")
