"""Turns requests into plans.

Reads sentences and AgentBeats JSON, looks up the names of agents, and checks a request against the
catalogue of tasks. May import `core` and `results`.
"""
