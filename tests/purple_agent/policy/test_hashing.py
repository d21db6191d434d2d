"""By what a policy is known again."""

from purple_agent.policy.hashing import hash_policy


def nested(levels):
    value = {}
    for _ in range(levels):
        value = {"a": value}
    return value


def test_the_order_of_names_does_not_count_and_everything_else_does():
    assert hash_policy({"a": 1, "b": [1, 2]}) == hash_policy({"b": [1, 2], "a": 1})
    others = ({"a": 1, "b": [2, 1]}, {"a": 1}, '{"a": 1}', "Be kind.", "be kind.")
    assert len({hash_policy(each) for each in others}) == len(others)


def test_a_policy_of_which_nothing_can_be_read_has_a_mark_all_the_same():
    assert hash_policy(nested(100_000)) == hash_policy(object())
    assert hash_policy("\ud800") != hash_policy(object())
