"""The deterministic reasoner: dialogue acts, matching of words and slot filling; no language model.

The entry point is `reasoner.DeterministicReasoner`. May import the same as `reasoners`, but not
`reasoners.model`.
"""
