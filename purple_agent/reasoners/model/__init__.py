"""The reasoner with language models: prompts, checks of their proposals, and fallbacks.

The entry point is `reasoner.ModelReasoner`; only `library` imports litellm. May import the same as
`reasoners`, but not `reasoners.deterministic`.
"""
