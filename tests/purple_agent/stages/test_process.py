"""Stage 5: a process begins, goes on, and begins anew."""

from purple_agent.case import Case, Dialect, Incoming, Session
from purple_agent.process.machine import Evidence, Process, Sign, State
from purple_agent.stages.process import ANEW, ProcessStage

WAITING = Process(kind="procurement").advance(
    Evidence(sign=Sign.UNDERSTOOD),
    Evidence(sign=Sign.ASSESSED),
    Evidence(sign=Sign.APPROVAL_NEEDED),
    Evidence(sign=Sign.APPROVAL_PENDING, subject="P1", approval_id="A9"),
)
DONE = Process(kind="procurement").advance(Evidence(sign=Sign.UNDERSTOOD), Evidence(sign=Sign.DONE))


def case_of(text, process=None, dialect=Dialect.BUSINESS):
    session = Session(context_id="c1", dialect=dialect, process=process or Process())
    return Case(incoming=Incoming(context_id="c1", message_id="m1", text=text), session=session)


async def test_the_first_message_tells_the_kind_and_leads_on_to_assess():
    case = await ProcessStage()(case_of("Approve expense E7."))
    process = case.session.process
    assert (process.kind, process.state) == ("expense_approval", State.ASSESS)


async def test_a_process_that_waits_goes_on_as_it_is():
    case = await ProcessStage()(case_of("Any news on the invoice?", WAITING))
    assert case.session.process == WAITING
    assert case.flags == ()


async def test_after_an_end_the_next_request_has_a_process_of_its_own():
    case = await ProcessStage()(case_of("Now reconcile invoice 8.", DONE))
    process = case.session.process
    assert (process.kind, process.state) == ("invoice_reconciliation", State.ASSESS)
    assert process.approvals == ()
    assert case.flags == (ANEW,)


async def test_a_general_process_takes_the_kind_of_a_later_request():
    first = await ProcessStage()(case_of("Hello!"))
    assert first.session.process.kind == "general"
    second = await ProcessStage()(case_of("Cancel order 9.", first.session.process))
    assert second.session.process.kind == "order_management"
    assert second.session.process.state is State.ASSESS


async def test_a_tau2_conversation_is_of_the_general_kind():
    case = await ProcessStage()(case_of("Cancel order 9.", dialect=Dialect.TAU2))
    assert (case.session.process.kind, case.session.process.state) == ("general", State.ASSESS)


async def test_an_approval_that_is_pending_stays_known_in_the_next_process():
    ended = WAITING.advance(Evidence(sign=Sign.BLOCKED))
    assert ended.state is State.FAILED
    case = await ProcessStage()(case_of("And order 9?", ended))
    assert case.session.process.approval("P1") == WAITING.approval("P1")
    assert case.session.process.state is State.ASSESS
