"""The mind that asks language models: prompts, checks of what they propose, and fallbacks.

Entered by `mind.ModelMind`; only `library` imports litellm. May import what `minds` may, but not
`minds.deterministic`.
"""
