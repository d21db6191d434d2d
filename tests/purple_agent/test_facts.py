"""Facts: what tools said, filed by entity, and kept apart by subject."""

from __future__ import annotations

from typing import Any

import pytest

from purple_agent import facts
from purple_agent.case import Dialect, Session, ToolCall, ToolResult, ToolSpec


def spec(name: str, *, is_write: bool = False) -> ToolSpec:
    return ToolSpec(name=name, description="", parameters={}, is_write=is_write)


def session() -> Session:
    names = ("get_order", "get_customer", "find_customer", "get_limits")
    specs = (*map(spec, names), spec("update_order", is_write=True))
    return Session(context_id="c", dialect=Dialect.BUSINESS, specs=specs)


def told(value: Any) -> ToolResult:
    return ToolResult(text="", value=value)


def read(name: str, value: Any, **arguments: Any) -> tuple[ToolCall, ToolResult]:
    return ToolCall(id="", name=name, arguments=arguments), told(value)


@pytest.mark.parametrize(
    ("name", "entity"),
    [
        ("get_expense", "expense"),
        ("find_orders", "orders"),
        ("get_order_details", "order"),
        ("find_customer_by_email", "customer"),
        ("look_up_purchase_order", "purchase_order"),
    ],
)
def test_an_entity_is_what_the_name_leaves_without_verb_and_trimmings(
    name: str, entity: str
) -> None:
    assert facts.entity_read_by(name) == entity


def test_a_read_is_filed_and_a_failed_one_forgets_what_was_known() -> None:
    here = session()
    facts.file(here, spec("get_order"), told({"id": "O-1"}))
    assert here.facts == {"order": {"id": "O-1"}}
    facts.file(here, spec("get_order"), ToolResult(text="no", failed=True))
    assert here.facts == {}


def test_a_record_wrapped_in_its_own_name_is_unwrapped() -> None:
    here = session()
    facts.file(here, spec("get_order"), told({"order": {"id": "O-1"}}))
    assert here.facts == {"order": {"id": "O-1"}}


def test_what_a_write_returns_is_added_to_the_record_with_the_same_id() -> None:
    here = session()
    facts.file(here, spec("get_order"), told({"order_id": "O-1", "status": "open", "total": 4}))
    write = spec("update_order", is_write=True)
    facts.file(here, write, told({"order_id": "O-1", "status": "sent"}))
    assert here.facts["order"] == {"order_id": "O-1", "status": "sent", "total": 4}
    facts.file(here, write, told({"order_id": "O-2", "status": "lost"}))
    assert here.facts["order"]["order_id"] == "O-1"


def test_facts_are_bounded() -> None:
    here = session()
    for number in range(facts.MOST_FACTS + 10):
        facts.file(here, spec(f"get_thing{number}"), told({"id": number}))
    assert len(here.facts) == facts.MOST_FACTS
    assert "thing0" not in here.facts


def test_facts_about_a_call_follow_its_ids_through_what_was_read() -> None:
    results = [
        read("get_order", {"order_id": "O-1", "customer_id": "C-1"}, order_id="O-1"),
        read("get_customer", {"customer_id": "C-1", "tier": "gold"}, customer_id="C-1"),
        read("get_order", {"order_id": "O-2", "customer_id": "C-2"}, order_id="O-2"),
        read("get_customer", {"customer_id": "C-2", "tier": "basic"}, customer_id="C-2"),
        read("get_limits", {"refund": 50}),
    ]
    own = facts.about(session(), {"order_id": "O-1"}, results)
    assert own["order"]["order_id"] == "O-1"
    assert own["customer"]["tier"] == "gold"
    assert own["limits"] == {"refund": 50}


def test_a_search_that_found_the_very_record_counts() -> None:
    results = [read("find_customer", {"customer_id": "C-1", "tier": "gold"}, email="a@b.example")]
    assert facts.about(session(), {"customer_id": "C-1"}, results)["customer"]["tier"] == "gold"
    assert facts.about(session(), {"customer_id": "C-2"}, results) == {}


def test_a_number_leads_on_only_under_a_name_that_fits() -> None:
    results = [
        read("get_order", {"order_id": 12, "quantity": 7, "billing_customer_id": 8}, order_id=12),
        read("get_customer", {"customer_id": 7, "tier": "gold"}, customer_id=7),
    ]
    assert "customer" not in facts.about(session(), {"order_id": 12}, results)
    assert "customer" not in facts.about(session(), {"order_id": 12, "quantity": 7}, results)
    fitting = read("get_customer", {"id": 8, "tier": "basic"}, id=8)
    own = facts.about(session(), {"order_id": 12}, [*results, fitting])
    assert own["customer"]["tier"] == "basic"


@pytest.mark.parametrize("written", [{"order_id": 12}, {"orderId": 12}, {"id": 12}])
@pytest.mark.parametrize("asked", [{"order_id": 12}, {"id": 12}])
def test_a_number_that_is_an_id_leads_to_its_record_however_it_is_written(
    written: dict[str, int], asked: dict[str, int]
) -> None:
    results = [read("get_order", {"id": 12, "total": 9}, **asked)]
    assert facts.about(session(), written, results)["order"]["total"] == 9


def test_a_number_in_a_call_does_not_make_a_search_the_finder_of_its_record() -> None:
    results = [read("find_customer", {"customer_id": 7, "tier": "gold"}, email="a@b.example")]
    assert facts.about(session(), {"order_id": 12, "quantity": 7}, results) == {}
    assert "customer" in facts.about(session(), {"customerId": 7}, results)


def test_what_a_write_told_of_a_record_counts_over_what_was_read_before() -> None:
    results = [
        read("get_order", {"order_id": "O-1", "status": "open"}, order_id="O-1"),
        read("update_order", {"order_id": "O-1", "status": "cancelled"}, order_id="O-1"),
    ]
    here = session()
    assert facts.about(here, {"order_id": "O-1"}, results)["order"]["status"] == "cancelled"
    assert here.facts == {}


@pytest.mark.parametrize("key", ["purchase_order_id", "purchaseOrderId", "id"])
def test_a_record_of_another_id_is_of_another_however_names_are_written(key: str) -> None:
    fact = {key: "PO-1"}
    assert facts.is_of_another("purchase_order", fact, {"purchaseOrderId": "PO-2"})
    assert not facts.is_of_another("purchase_order", fact, {"purchase_order_id": "po-1"})


def test_what_is_too_large_is_not_filed_and_nothing_older_stands_for_it() -> None:
    here = session()
    facts.file(here, spec("get_order"), told({"id": "O-1"}))
    facts.file(here, spec("get_order"), told({"id": "O-2", "notes": "x" * 256_000}))
    assert here.facts == {}


def test_all_facts_of_a_session_are_bounded_and_the_oldest_go_first() -> None:
    here = session()
    for number in range(12):
        facts.file(here, spec(f"get_thing{number}"), told({"notes": "x" * 200_000}))
    assert list(here.facts) == [f"thing{number}" for number in range(3, 12)]
