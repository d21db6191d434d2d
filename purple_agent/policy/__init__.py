"""Business policies: rules in a small language of conditions, judged over known facts.

The entry point is `rules.Policy`. Pure; imports nothing else of `purple_agent`.
"""
