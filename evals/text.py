"""Tier 3: text similarity, the example of an evaluator plugin."""
