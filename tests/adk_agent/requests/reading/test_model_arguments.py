"""What a request may set for the language model that plays the user."""

from __future__ import annotations

from typing import Any

import pytest

from tests.adk_agent.requests.records import Parse, record, refused


def test_a_request_cannot_redirect_the_calls_of_the_users_model(parse: Parse) -> None:
    got = parse(
        record(user_llm_args={"temperature": 1, "api_base": "http://evil.example", "api_key": "k"})
    )
    assert got.user_llm_args == {"temperature": 1}
    assert len(got.warnings) == 2


@pytest.mark.parametrize("name", ["timeout", "num_retries", "n"])
def test_how_often_and_how_long_a_model_is_called_is_not_for_a_request_to_say(
    parse: Parse, name: str
) -> None:
    got = parse(record(user_llm_args={name: 2, "temperature": None}))
    assert got.user_llm_args == {}
    assert len(got.warnings) == 1
    assert f"config.user_llm_args.{name} was ignored" in got.warnings[0]


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("temperature", "hot", "a number from 0 to 2"),
        ("temperature", 2.1, "a number from 0 to 2"),
        ("temperature", True, "a number from 0 to 2"),
        ("temperature", float("nan"), "a number from 0 to 2"),
        ("top_p", -0.1, "a number from 0 to 1"),
        ("min_p", [0.5], "a number from 0 to 1"),
        ("top_k", 0, "a whole number from 1"),
        ("max_tokens", 10.5, "a whole number from 1"),
        ("max_completion_tokens", "all", "a whole number from 1"),
        ("presence_penalty", -3, "a number from -2 to 2"),
        ("frequency_penalty", 3, "a number from -2 to 2"),
        ("seed", -1, "a whole number from 0"),
        ("seed", 1.0, "a whole number from 0"),
        ("stop", [], "up to 4 texts"),
        ("stop", ["a", 1], "up to 4 texts"),
        ("reasoning_effort", "much", "low, medium, high"),
        ("drop_params", "yes", "true or false"),
    ],
)
def test_a_models_argument_that_cannot_be_is_refused_with_key_value_and_what_is_expected(
    parse: Parse, name: str, value: Any, expected: str
) -> None:
    refusal = refused(parse, record(user_llm_args={name: value}))
    assert refusal.code == "bad-config"
    assert f"config.user_llm_args.{name} is {value!r}" in str(refusal)
    assert expected in str(refusal)


def test_a_models_arguments_within_their_bounds_are_read(parse: Parse) -> None:
    arguments = {
        "temperature": 2,
        "top_p": 0.5,
        "min_p": 0,
        "top_k": 40,
        "max_tokens": 1,
        "max_completion_tokens": 4096,
        "presence_penalty": -2.0,
        "frequency_penalty": 2,
        "seed": 0,
        "stop": ["###", "END"],
        "reasoning_effort": "low",
        "drop_params": True,
    }
    got = parse(record(user_llm_args=arguments))
    assert (got.user_llm_args, got.warnings) == (arguments, ())
