"""The assessor: the only package that knows ADK, and the composition root."""
