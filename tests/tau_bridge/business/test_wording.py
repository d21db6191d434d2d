"""Where a request means business, the domain."""

import pytest

from tau_bridge.business.scenarios import scenarios
from tau_bridge.business.wording import with_business
from tau_bridge.errors import WordingError

FIRST = next(iter(scenarios()))
SHORT = FIRST.partition("_")[0]


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("on ten business tasks", "on ten business tasks"),
        ("on all business-process scenarios", "on all business scenarios"),
        ("for business reasons", "for company reasons"),
        ("our business needs it", "our company needs it"),
        (f"on {SHORT}", f"on business tasks {FIRST}"),
        (f"on business task {SHORT}", f"on business task {FIRST}"),
    ],
)
def test_the_name_of_the_domain_stands_only_where_it_is_meant(said, meant):
    assert with_business(said) == meant


def test_a_scenario_that_there_is_not_is_refused():
    with pytest.raises(WordingError, match="no scenario 'bp99'") as caught:
        with_business("on bp99")
    assert caught.value.code == "bad-number"
