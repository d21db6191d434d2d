import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.outcome import Component, Failed, Scored, TaskResult, Unscored
from evals.reward import action_reward, breakdown_of, is_success, pass_hat_k, reward_of


def scored(name, value, produced_by="rules"):
    return Component(name=name, outcome=Scored(value=value, produced_by=produced_by))


def unscored(name):
    return Component(name=name, outcome=Unscored(reason="needs a judge"))


def broken(name):
    return Component(name=name, outcome=Failed(reason="assertion raised", fault="harness"))


def result(basis, *components, premature_end=None):
    return TaskResult(basis=basis, components=components, premature_end=premature_end)


@pytest.mark.parametrize(
    ("values", "reward"), [((1.0, 1.0), 1.0), ((1.0, 0.0), 0.0), ((0.0, 0.0), 0.0)]
)
@pytest.mark.requirement("tau:scoring")
def test_the_reward_is_the_product_over_the_basis(values, reward):
    components = (scored("DB", values[0]), scored("COMMUNICATE", values[1]))
    assert reward_of(result(("DB", "COMMUNICATE"), *components)) == Scored(
        value=reward, produced_by="rules"
    )


def test_a_component_outside_the_basis_does_not_count():
    assert reward_of(result(("DB",), scored("DB", 1.0), scored("ACTION", 0.0))).value == 1.0


def test_an_empty_basis_gives_one():
    assert reward_of(result((), scored("DB", 0.0))).value == 1.0


def test_a_conversation_that_was_cut_off_has_reward_zero():
    outcome = reward_of(result(("DB",), scored("DB", 1.0), premature_end="max_steps"))
    assert outcome == Scored(value=0.0, produced_by="rules")


@pytest.mark.parametrize("database", [0.0, 1.0])
def test_a_task_that_needs_a_judge_is_unscored_whatever_else_holds(database):
    outcome = reward_of(
        result(("DB", "NL_ASSERTION"), scored("DB", database), unscored("NL_ASSERTION"))
    )
    assert outcome == Unscored(reason="needs a judge")


def test_a_component_that_broke_leaves_the_task_failed_even_outside_the_basis():
    outcome = reward_of(result(("DB",), scored("DB", 1.0), broken("ENV_ASSERTION")))
    assert outcome == Failed(reason="assertion raised", fault="harness")


def test_a_component_that_nobody_computed_is_a_failure_of_the_harness():
    outcome = reward_of(result(("DB", "ACTION"), scored("DB", 1.0)))
    assert outcome.status == "failed"
    assert outcome.fault == "harness"


def test_the_reward_names_everybody_who_made_it():
    outcome = reward_of(
        result(
            ("DB", "NL_ASSERTION"), scored("DB", 1.0), scored("NL_ASSERTION", 1.0, "llm:judge-1")
        )
    )
    assert outcome.produced_by == "llm:judge-1+rules"


def test_the_legacy_reward_looks_at_actions_alone():
    played = result(("DB",), scored("DB", 0.0), scored("ACTION", 1.0))
    assert action_reward(played).value == 1.0


def test_the_breakdown_has_no_number_where_there_is_none():
    played = result(("DB",), scored("DB", 0.0), unscored("NL_ASSERTION"))
    assert breakdown_of(played) == {"DB": 0.0, "NL_ASSERTION": None}


@pytest.mark.requirement("tau:metrics")
def test_pass_hat_k_of_a_hand_computed_case():
    # Task a passes 2 of 4, task b 4 of 4: C(2,2)/C(4,2) = 1/6 and 1.
    rewards = {"a": [1.0, 0.0, 1.0, 0.0], "b": [1.0] * 4}
    assert pass_hat_k(rewards, 1) == pytest.approx(0.75)
    assert pass_hat_k(rewards, 2) == pytest.approx((1 / 6 + 1) / 2)
    assert pass_hat_k(rewards, 3) == pytest.approx(0.5)


def test_pass_hat_k_leaves_out_tasks_with_fewer_trials():
    assert pass_hat_k({"a": [0.0], "b": [1.0, 1.0]}, 2) == 1.0
    assert pass_hat_k({"a": [0.0]}, 2) is None
    assert pass_hat_k({}, 1) is None


def test_pass_hat_k_refuses_a_k_below_one():
    with pytest.raises(ValueError, match="at least 1, not 0"):
        pass_hat_k({}, 0)


@given(st.lists(st.sampled_from([0.0, 1.0]), min_size=1, max_size=7), st.integers(1, 7))
def test_pass_hat_k_is_the_share_of_all_draws_of_k_trials_that_pass(rewards, k):
    draws = list(itertools.combinations(rewards, k))
    expected = sum(all(draw) for draw in draws) / len(draws) if draws else None
    got = pass_hat_k({"a": rewards}, k)
    assert got == (None if expected is None else pytest.approx(expected))


def test_only_a_reward_of_one_is_a_success():
    assert is_success(1.0)
    assert not is_success(0.999)
