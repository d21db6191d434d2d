import math

from evals.graph.view import settled


def test_values_are_rounded_so_that_the_order_of_a_sum_does_not_matter():
    assert settled(0.1 + 0.2 + 0.3) == settled(0.3 + 0.2 + 0.1) == 0.6


def test_a_tiny_negative_rest_is_a_plain_zero():
    assert math.copysign(1, settled(-1e-15)) == 1
