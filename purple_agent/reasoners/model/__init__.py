"""The reasoner that asks language models: prompts, checks of what they propose, and fallbacks.

Entered by `reasoner.ModelReasoner`; only `library` imports litellm. May import what `reasoners` may, but not
`reasoners.deterministic`.
"""
