"""Reference agents to evaluate. Imports nothing of the assessor and is imported by nobody."""
