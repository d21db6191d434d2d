"""Other words for an opening: which values they must keep, and whose words count."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tau_bridge.benchmark import UserModel
from tau_bridge.chaos.injector import Injector
from tau_bridge.chaos.values import changed_values
from tau_bridge.completion import CompletionResult
from tau_bridge.errors import UserModelError
from tau_bridge.recorder import TraceRecorder
from tau_bridge.tau2.rewording import ModelRewording
from tests.fakes.runtime import manual_runtime

pytestmark = pytest.mark.requirement("test:chaos")
SAID = (
    "Hi, I want to change flight HAT136 from Boston to Denver on May 17 for two people. "
    "My user id is ada_7, and I don't need a refund of $120.50."
)


@pytest.mark.parametrize(
    "words",
    [
        SAID,
        "Please move my flight HAT136, Boston to Denver, on May 17 (two people), to another day. "
        "I'm ada_7 and I do not want the $120.50 back.",
        "Could you rebook HAT136 from Boston to Denver on May 17? There are two of us, it is ada_7, "
        "and a refund of $120.50 is not needed.",
    ],
)
def test_other_words_with_the_same_values_may_be_used(words):
    assert changed_values(SAID, words) == ()


@pytest.mark.parametrize(
    ("change", "values"),
    [
        (("HAT136", "HAT139"), ("hat136", "hat139")),
        (("two people", "us"), ("two",)),
        (("May 17", "May 18"), ("17", "18")),
        (("ada_7", "ada_8"), ("ada_7", "ada_8")),
        (("$120.50", "$12.50"), ("12.50", "120.50")),
        (("Denver", "Dallas"), ("dallas", "denver")),
        (("Hi,", "Hi Julia,"), ("julia",)),
        (("don't need", "need"), ("not",)),
        (("from Boston to Denver", "from Denver to Boston"), ("boston", "denver")),
        (("two", "three"), ("three", "two")),
    ],
)
def test_a_value_that_is_lost_added_or_moved_is_named(change, values):
    assert changed_values(SAID, SAID.replace(*change)) == values


@given(st.text(max_size=80))
def test_a_text_has_its_own_values(text):
    assert changed_values(text, text) == ()


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_another_number_is_always_found(one, other):
    found = changed_values(f"I need order {one} please.", f"Please, order {other} is what I need.")
    assert (found == ()) is (one == other)


@pytest.fixture
def recorder():
    return TraceRecorder("t", runtime=manual_runtime())


def model(answer):
    async def complete(messages, *, tools=()):
        assert messages[-1]["content"] == SAID
        return CompletionResult(content=answer, model="m")

    return UserModel(name="test/m", completion=complete)


async def opening(recorder, answer):
    faults = Injector("shop/1", seed=1, rates={"prompt": 1.0})
    said = await faults.opening(SAID, ModelRewording(model(answer), recorder))
    return said, faults.faults[0].produced_by


async def test_the_words_of_a_model_count_where_they_keep_the_values(recorder):
    words = SAID.replace("Hi, I want to change", "Good day. Please move")
    assert await opening(recorder, words) == (words, "llm:test/m")
    assert [step.callee for step in recorder.trace().steps] == ["test/m"]


async def test_where_the_model_changes_a_value_the_rules_reword_and_say_why(recorder):
    said, by = await opening(recorder, SAID.replace("HAT136", "HAT139"))
    assert all(sentence in said for sentence in SAID.split(". ", 1))
    assert by == "rules, as llm:test/m lost, added or moved hat136, hat139"


async def test_a_model_that_says_nothing_breaks_the_play_and_is_not_the_agents_fault(recorder):
    with pytest.raises(UserModelError, match="test/m"):
        await opening(recorder, "")
