"""Faults that are injected into a trial on purpose: on the way to the agent, in tools, in words.

An agent is played plain, and again under each family of faults; see docs/reliability.md.
"""
