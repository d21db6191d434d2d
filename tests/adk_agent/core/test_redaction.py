"""Secrets stay out of the log, and out of models that leave the machine."""

import logging

from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import SecretStr

from adk_agent.core.redaction import ModelRedactor, RedactingFilter
from evals.diagnosis import CallDifference, Diagnosis
from tests.adk_agent.present.exports.conftest import trial


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


def test_nobody_writes_lines_of_their_own_into_the_log():
    text = "task %s not found"
    record = logging.LogRecord("x", logging.INFO, "f", 1, text, ("a\nERROR: b\x1b[2J\0",), None)
    RedactingFilter([]).filter(record)
    assert record.getMessage() == "task a\\nERROR: b\\x1b[2J\\x00 not found"


def test_the_same_value_comes_back_where_there_is_nothing_to_hide():
    value = {"key": ["a", 1, None, {"b": "total_tokens: 7"}], "token": 2.5}
    assert ModelRedactor([SecretStr("abc")]).value(value) == value


def test_of_a_model_only_free_texts_are_masked():
    secret = "scripted-mock-1"
    row = trial(
        secret,
        status="failed",
        reward=None,
        reason=f"saw {secret}",
        domain=secret,
        reward_breakdown={secret: 1.0},
    ).row
    arguments = {secret: [secret], "role": secret}
    call = CallDifference(how="superfluous", name="f", arguments=arguments)
    why = Diagnosis(kind="harness", side="harness", summary=secret, calls=(call,))
    redacted = ModelRedactor([SecretStr(secret)]).model(row.model_copy(update={"diagnosis": why}))
    assert (redacted.task_id, redacted.domain, redacted.reward_breakdown) == (
        secret,
        secret,
        {secret: 1},
    )
    assert (redacted.reason, redacted.diagnosis.summary) == ("saw ***", "***")
    assert redacted.diagnosis.calls[0].arguments == {"***": ["***"], "role": secret}
    kept = ModelRedactor([SecretStr("harness-"), SecretStr("superfluous")]).model(why)
    assert (kept.kind, kept.side, kept.calls[0].how) == ("harness", "harness", "superfluous")


PIECES = [
    '"',
    "\\",
    "\n",
    "\u2003",
    " ",
    ":",
    "\x01",
    "api_key",
    "\u017fecret",
    "TOKEN",
    "Passwort",
]
PIECES += [
    "=",
    " is ",
    "://",
    "@",
    "\t",
    "ghp_",
    "xoxb-1",
    "aws ",
    "Ab1/" * 10,
    "-----BEGIN PRIVATE KEY-----",
]
PIECES += ["sk-", "PK-", "a" * 16, "Bearer ", "x1" * 10, 'own "secret"\\', "task", "{", "}"]


@example("Ab1/" * 10 + " is the secret")
@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=12).map("".join))
def test_a_model_loses_what_its_texts_lose_by_themselves(text):
    redactor = ModelRedactor([SecretStr('own "secret"\\')])
    why = Diagnosis(kind="harness", side="harness", summary=text)
    assert redactor.model(why).summary == redactor.text(text)
