"""The three agents of Google's ADK, and the only place that imports it.

TaskSelector, EvaluationRunner and ResultsInterpreter wrap what `requests`, `play` and `results` do;
they pass typed values through the session state. May import `core` to `present`.
"""
