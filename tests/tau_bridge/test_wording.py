"""Ids of tasks that requests name by their numbers."""

import pytest

from tau_bridge.errors import WordingError
from tau_bridge.wording import whole_id

IDS = ("q01_refund", "q02_exchange")


@pytest.mark.parametrize("said", ["q02", "q02_exchange"])
def test_a_number_and_a_whole_id_mean_the_same_task(said):
    assert whole_id(said, IDS, what="question", shown_by="list") == "q02_exchange"


def test_an_id_that_is_written_in_full_is_left_for_planning_to_judge():
    assert whole_id("q02_refund", IDS, what="question", shown_by="list") == "q02_refund"


def test_a_number_that_there_is_not_is_refused_with_the_command_that_lists_them():
    with pytest.raises(WordingError, match=r"no question 'q03': `list` .* 'q01_refund'") as caught:
        whole_id("q03", IDS, what="question", shown_by="list")
    assert caught.value.code == "bad-number"
