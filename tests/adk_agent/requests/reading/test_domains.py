"""Where a sentence names a domain, and where it only uses its word."""

import pytest

from tau_bridge.business.scenarios import scenarios

ALLOWED = next(each for each in scenarios() if each.endswith("expense_taxi"))


@pytest.mark.parametrize(
    ("asked", "selected"),
    [
        ("on ten business tasks", [("business", 10, None)]),
        ("on all business-process scenarios", [("business", None, None)]),
        ("on two airline and three business tasks", [("airline", 2, None), ("business", 3, None)]),
        (f"on business task {ALLOWED}", [("business", None, (ALLOWED,))]),
        (f"on {ALLOWED.partition('_')[0]}", [("business", None, (ALLOWED,))]),
        ("on five retail tasks for business reasons", [("retail", 5, None)]),
        ("on five retail tasks, our business needs it", [("retail", 5, None)]),
    ],
)
def test_a_sentence_means_the_domain_only_where_it_says_so(read, asked, selected):
    request = read(f"Evaluate http://localhost:9010 {asked}")
    assert [(each.domain, each.num_tasks, each.task_ids) for each in request.selections] == selected
