"""What is wrong with a proposed call, as far as code can tell."""

from purple_agent.case import Dialect, Entry, Session
from purple_agent.reasoners.model.checks import may_be_confirmed, unread
from purple_agent.reasoners.model.scratchpad import Scratchpad
from tests.purple_agent.reasoners.model.specs import spec


def test_a_user_can_only_have_confirmed_what_the_agent_said_before():
    session = Session(context_id="c", dialect=Dialect.TAU2)
    session.entries += [Entry(role="agent", text="hi"), Entry(role="user", text="do it")]
    assert not may_be_confirmed(session)
    session.entries += [Entry(role="agent", text="sure?"), Entry(role="user", text="yes")]
    assert may_be_confirmed(session)


def test_what_has_no_reader_of_its_own_need_not_be_read():
    session = Session(
        context_id="c",
        dialect=Dialect.TAU2,
        specs=(spec("get_order", "order_id"), spec("find_user_by_email", "email")),
    )
    book = Scratchpad()
    assert unread({"email": "a@b.c", "item_ids": ["1"], "note": "x"}, session, book) == ""
    assert "'O-2' with get_order" in unread({"order_ids": ["O-2"]}, session, book)
    book.read.add(("order_id", "O-2"))
    assert unread({"order_ids": ["O-2"]}, session, book) == ""
