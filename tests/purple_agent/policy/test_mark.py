"""By what a policy is known again."""

from purple_agent.policy.mark import mark_of


def nested(levels):
    value = {}
    for _ in range(levels):
        value = {"a": value}
    return value


def test_the_order_of_names_does_not_count_and_everything_else_does():
    assert mark_of({"a": 1, "b": [1, 2]}) == mark_of({"b": [1, 2], "a": 1})
    others = ({"a": 1, "b": [2, 1]}, {"a": 1}, '{"a": 1}', "Be kind.", "be kind.")
    assert len({mark_of(each) for each in others}) == len(others)


def test_a_policy_of_which_nothing_can_be_read_has_a_mark_all_the_same():
    assert mark_of(nested(100_000)) == mark_of(object())
    assert mark_of("\ud800") != mark_of(object())
