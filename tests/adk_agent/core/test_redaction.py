"""Secrets stay out of the log."""

import logging

from pydantic import SecretStr

from adk_agent.core.redaction import RedactingFilter


def cleaned(message, *arguments, exc_info=None):
    record = logging.LogRecord("x", logging.INFO, "f", 1, message, arguments, exc_info)
    RedactingFilter([SecretStr("hunter2-x"), SecretStr("abc")]).filter(record)
    return logging.Formatter().format(record)


def test_a_secret_is_hidden_wherever_it_stands():
    assert cleaned("the key is %s!", "hunter2-x") == "the key is [secret]!"
    assert cleaned("Authorization: Bearer sk-12345") == "Authorization: Bearer [secret]"


def test_a_traceback_is_cleaned_too():
    error = ValueError("refused hunter2-x")
    text = cleaned("it broke", exc_info=(ValueError, error, None))
    assert "hunter2-x" not in text
    assert "ValueError: refused [secret]" in text


def test_a_secret_of_three_letters_does_not_blank_out_the_log():
    assert cleaned("abcdef") == "abcdef"


def test_a_message_that_does_not_fit_its_arguments_is_logged_all_the_same():
    assert cleaned("%d of hunter2-x", "one") == "%d of [secret]"


def test_nobody_writes_lines_of_his_own_into_the_log():
    text = "task %s not found"
    record = logging.LogRecord("x", logging.INFO, "f", 1, text, ("a\nERROR: b\x1b[2J\0",), None)
    RedactingFilter([]).filter(record)
    assert record.getMessage() == "task a\\nERROR: b\\x1b[2J\\x00 not found"
