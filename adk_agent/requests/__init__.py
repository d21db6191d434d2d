"""From what somebody wrote to a plan that can be played.

Sentences and AgentBeats JSON are read, names of agents looked up, and the request checked against
the catalogue of tasks. May import `core` and `results`.
"""
