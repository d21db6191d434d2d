"""What is masked of values and of models, and what is left alone."""

from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from adk_agent.core.veil import Veil
from evals.diagnosis import CallDifference, Diagnosis
from tests.adk_agent.present.exports.conftest import trial


def test_the_same_value_comes_back_where_there_is_nothing_to_hide():
    value = {"key": ["a", 1, None, {"b": "total_tokens: 7"}], "token": 2.5}
    assert Veil([SecretStr("abc")]).value(value) == value


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
    veiled = Veil([SecretStr(secret)]).model(row.model_copy(update={"diagnosis": why}))
    assert (veiled.task_id, veiled.domain, veiled.reward_breakdown) == (secret, secret, {secret: 1})
    assert (veiled.reason, veiled.diagnosis.summary) == ("saw ***", "***")
    assert veiled.diagnosis.calls[0].arguments == {"***": ["***"], "role": secret}
    kept = Veil([SecretStr("harness-"), SecretStr("superfluous")]).model(why)
    assert (kept.kind, kept.side, kept.calls[0].how) == ("harness", "harness", "superfluous")


PIECES = ['"', "\\", "\n", "\u2003", " ", ":", "\x01", "api_key", "\u017fecret", "TOKEN", "Passwort"]
PIECES += ["sk-", "PK-", "a" * 16, "Bearer ", "x1" * 10, 'own "secret"\\', "task", "{", "}"]


@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=12).map("".join))
def test_a_model_loses_what_its_texts_lose_by_themselves(text):
    veil = Veil([SecretStr('own "secret"\\')])
    why = Diagnosis(kind="harness", side="harness", summary=text)
    assert veil.model(why).summary == veil.text(text)
