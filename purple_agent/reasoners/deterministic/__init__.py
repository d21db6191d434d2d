"""The deterministic reasoner: dialogue acts, fuzzy matching and slot filling; no language model.

Entered by `reasoner.DeterministicReasoner`. May import what `reasoners` may, but not `reasoners.model`.
"""
