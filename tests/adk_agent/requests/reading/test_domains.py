"""Where a sentence names a domain, and where it only uses its word."""

import pytest

from adk_agent.requests.reader import Refusal
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


@pytest.mark.parametrize(
    ("asked", "domains"),
    [
        ("on tau2/mock", ["mock"]),
        ("on five τ²/retail tasks", ["retail"]),
        ("on tau2-bench/airline and business/business", ["airline", "business"]),
        ("on exercises/coordination", ["coordination"]),
        ("on airline / mock", ["airline", "mock"]),
        ("on retail and/or mock", ["retail", "mock"]),
    ],
)
def test_a_domain_may_be_named_with_its_benchmark(read, asked, domains):
    request = read(f"Evaluate http://localhost:9010 {asked}")
    assert [each.domain for each in request.selections] == domains


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("on nope/mock", "no benchmark 'nope', only tau2, .*did you mean 'tau2/mock'"),
        ("on airline/mock", "did you mean 'tau2/mock'.* write 'airline and mock'"),
        ("on five business/mock tasks", "'business' has no domain 'mock'.*'tau2/mock'"),
        ("on tau2/nowhere", "'tau2' has no domain 'nowhere': known: 'airline'"),
    ],
)
def test_a_domain_named_with_another_benchmark_is_refused(read, asked, message):
    with pytest.raises(Refusal, match=message) as caught:
        read(f"Evaluate http://localhost:9010 {asked}")
    assert caught.value.code == "unknown-domain"
