"""The deterministic mind: dialogue acts, fuzzy matching and slot filling; no language model."""
