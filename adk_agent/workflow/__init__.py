"""The three agents of Google's ADK, and the only place that imports it.

TaskSelector, EvaluationRunner and ResultsInterpreter wrap what `requests`, `play` and `results` do.
They pass JSON through the session's state, and the report as it is. Only `sequence` knows what
chains them. May import `core` to `present`.
"""
