"""Whether a policy asks for the user's confirmation."""

import pytest

from purple_agent.reasoners.confirmation import asks_confirmation


@pytest.mark.parametrize(
    "policy",
    [
        "You must obtain explicit user confirmation (yes) before you go on.",
        "List the details and get the user's confirmation.",
        "The user must confirm before it is changed.",
        "Before anything is cancelled, the customer has to confirm it.",
    ],
)
def test_confirmation_is_seen_in_the_ways_that_policies_ask_for_it(policy):
    assert asks_confirmation(policy)


@pytest.mark.parametrize(
    "policy", ["", "Orders are confirmed by mail.", "Confirm nothing.\nBefore."]
)
def test_other_words_of_confirmation_ask_for_none(policy):
    assert not asks_confirmation(policy)
