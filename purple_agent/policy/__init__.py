"""Business policies: rules in a small language of conditions, and what they say of known facts.

Entered by `rules.Policy`. Pure; imports nothing else of `purple_agent`.
"""
