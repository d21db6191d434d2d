"""Tokens as litellm counts them."""

from purple_agent.reasoners.counting import ModelTokens
from purple_agent.settings import ModelChoice


def test_a_known_model_has_a_window_and_counts_words():
    tokens = ModelTokens(ModelChoice(name="openai/gpt-4o-mini"))
    assert tokens.window() == 128_000
    assert 2 <= tokens.count("hello world") <= 20


def test_an_unknown_model_is_counted_by_a_common_tokenizer():
    tokens = ModelTokens(ModelChoice(name="openai/no-such-model"))
    assert tokens.window() is None
    assert tokens.count("hello " * 100) >= 100
