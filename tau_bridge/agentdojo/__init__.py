"""AgentDojo as a benchmark: tools whose results may hold a stranger's instructions.

`suites` knows the cases without importing anything, `official` is the one module that imports
inspect-evals, `evidence` finds where injected text came in.
"""
