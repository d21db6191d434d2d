"""The deterministic reasoner: dialogue acts, matching of words and slot filling; no language model.

Entered by `reasoner.DeterministicReasoner`. May import what `reasoners` may, but not
`reasoners.model`.
"""
