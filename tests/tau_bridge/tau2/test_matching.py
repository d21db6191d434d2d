"""Which made calls are gold calls, by hand."""

import pytest

from tau_bridge.messages import ToolCall
from tau_bridge.tau2.matching import MadeCall, pair_writes
from tau_bridge.tau2.tasks import GoldAction

BERN = {"city": "Bern", "note": "soon"}


def made(arguments, *, error=False, requestor="assistant"):
    call = ToolCall(id="c", name="move", arguments=arguments, requestor=requestor)
    return MadeCall(message=1, call=call, error=error, result="")


def gold(arguments, compare_args=None, requestor="assistant"):
    return GoldAction(
        name="move", arguments=arguments, compare_args=compare_args, requestor=requestor
    )


@pytest.mark.parametrize(
    ("given", "compared", "is_gold"),
    [
        (BERN, None, True),
        ({**BERN, "note": "later"}, None, False),
        ({**BERN, "note": "later"}, ["city"], True),
        ({"city": "Bern"}, ["city"], True),
        ({**BERN, "city": "Basel"}, ["city"], False),
        ({"note": "soon"}, ["city"], False),
        ({"city": "Basel"}, [], True),
    ],
)
def test_a_call_is_gold_by_all_of_its_arguments_or_by_those_that_the_task_compares(
    given, compared, is_gold
):
    pairs = pair_writes([made(given)], [gold(BERN, compared)], any_requestor=False)
    assert pairs == ({0: 0} if is_gold else {})


def test_equal_calls_pair_before_those_that_are_equal_where_they_are_compared():
    calls = [made({**BERN, "note": "later"}), made(BERN)]
    actions = [gold(BERN, ["city"]), gold({**BERN, "note": "never"}, ["city"])]
    assert pair_writes(calls, actions, any_requestor=False) == {1: 0, 0: 1}


def test_a_call_that_succeeded_pairs_before_one_that_failed():
    calls = [made(BERN, error=True), made(BERN)]
    assert pair_writes(calls, [gold(BERN)], any_requestor=False) == {1: 0}
    assert pair_writes(calls, [gold(BERN)] * 3, any_requestor=False) == {1: 0, 0: 1}


@pytest.mark.parametrize(("any_requestor", "pairs"), [(True, {0: 0}), (False, {})])
def test_the_requestor_counts_unless_the_agent_plays_alone(any_requestor, pairs):
    action = gold(BERN, requestor="user")
    assert pair_writes([made(BERN)], [action], any_requestor=any_requestor) == pairs
