"""What matters most now, said again at the end."""

from purple_agent.case import Dialect, Entry, Session
from purple_agent.reasoners.model.hints import likely_tools, relevant_sentences
from purple_agent.reasoners.model.prompts import reminder_of
from tests.purple_agent.reasoners.model.specs import spec

POLICY = """# Shop
- Orders can be cancelled only while they are pending.
- The shop opens at nine on weekdays.
- Refunds go to the original payment method. Gift cards are refunded at once."""
SPECS = (spec("cancel_order", "order_id"), spec("get_weather", "city"))


def test_the_rules_and_tools_nearest_to_the_users_words_are_said_again():
    session = Session(context_id="c", dialect=Dialect.TAU2, policy_text=POLICY, specs=SPECS)
    assert reminder_of(session) == ""
    session.entries.append(Entry(role="user", text="I want to cancel my order"))
    reminder = reminder_of(session)
    assert "cancelled only while they are pending" in reminder
    assert "opens at nine" not in reminder
    assert "cancel_order(order_id)" in reminder
    assert "get_weather" not in reminder


def test_hints_of_a_huge_policy_are_bounded():
    policy = "Refunds are made for order number one. " * 50_000
    assert len(relevant_sentences(policy, "refund my order please")) <= 5
    assert likely_tools(SPECS, "") == ()
