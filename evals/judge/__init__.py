"""Tier 2: a judgement of the trace in words, by a language model or by rules."""
