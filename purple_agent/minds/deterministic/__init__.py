"""The deterministic mind: dialogue acts, fuzzy matching and slot filling; no language model.

Entered by `mind.DeterministicMind`. May import what `minds` may, but not `minds.model`.
"""
