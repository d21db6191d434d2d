import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.base import EvaluationContext
from evals.driver import EvaluatorRegistry
from evals.text import MAX_CHARACTERS, TextSimilarityEvaluator
from evals.trace import Trace


async def compare(answer, expected):
    context = EvaluationContext(trace=Trace(trace_id="t"), answer=answer, expected_answer=expected)
    (evaluation,) = await EvaluatorRegistry([TextSimilarityEvaluator()]).run(context)
    return evaluation


@pytest.mark.requirement("text:plugin")
async def test_the_similarity_of_a_hand_computed_pair():
    # "abcd" becomes "abce" by one deletion and one insertion: 1 - 2 / 8.
    evaluation = await compare("abcd", "abce")
    assert (evaluation.status, evaluation.values["ratio"]) == ("scored", 0.75)


async def test_similarities_are_told_to_six_digits():
    # Two of the six characters are left over: 1 - 2 / 6.
    evaluation = await compare("ab", "abcd")
    assert evaluation.values == {"ratio": 0.666667, "token_set_ratio": 0.666667}


async def test_an_answer_that_holds_all_expected_words_has_the_whole_token_set_ratio():
    evaluation = await compare("the refund is 30 dollars, as promised", "30 dollars, refund")
    assert evaluation.values["token_set_ratio"] == 1.0
    assert evaluation.values["ratio"] < 1.0


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("  It is\n30 Dollars ", "it is 30 dollars"),
        ("STRASSE", "straße"),
        ("３０", "30"),
        ("ﬁne", "fine"),
        ("cafe\u0301", "caf\u00e9"),
    ],
)
async def test_case_white_space_and_the_form_of_characters_make_no_difference(answer, expected):
    assert (await compare(answer, expected)).values == {"ratio": 1.0, "token_set_ratio": 1.0}


async def test_an_empty_answer_is_like_nothing_that_was_expected():
    assert (await compare("", "30 dollars")).values["ratio"] == 0.0


@pytest.mark.parametrize(
    ("answer", "expected", "reason"),
    [
        ("30", None, "no expected answer"),
        ("30", " \n", "no expected answer"),
        (None, "30", "no answer"),
        ("a" * (MAX_CHARACTERS + 1), "30", f"{MAX_CHARACTERS + 1} characters"),
        # One character that becomes eighteen when it is normalised.
        ("\ufdfa" * (MAX_CHARACTERS // 10), "30", f"{MAX_CHARACTERS // 10 * 18} characters"),
    ],
)
async def test_what_cannot_be_compared_is_unscored_with_the_reason(answer, expected, reason):
    evaluation = await compare(answer, expected)
    assert evaluation.status == "unscored"
    assert reason in evaluation.reason
    assert evaluation.values == {}


@given(answer=st.text(), expected=st.text().filter(str.strip))
async def test_every_pair_of_texts_lies_between_0_and_1_and_equal_ones_are_at_1(answer, expected):
    values = (await compare(answer, expected)).values
    assert all(0 <= value <= 1 for value in values.values())
    assert (await compare(expected, expected)).values["ratio"] == 1.0
