"""The mind that asks language models: prompts, checks of what they propose, and fallbacks."""
