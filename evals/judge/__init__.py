"""Tier 2: a judgement of the trace in words, by a language model or by rules.

A model is handed in and never imported. May import `evals.graph` and the modules beside these two
folders, not `evals.diagnosis`.
"""
