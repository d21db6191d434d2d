"""The three agents for Google's ADK, which no other folder imports.

TaskSelector, EvaluationRunner and ResultsInterpreter wrap `requests`, `play` and `results`. They
pass JSON through the session state, and the report as an object. Only `sequence` knows how they are
chained. May import `core` to `present`.
"""
