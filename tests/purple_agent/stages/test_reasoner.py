"""Stage 7: the loop between a reasoner and its tools."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from purple_agent.case import (
    BudgetLevel,
    Case,
    Dialect,
    Entry,
    Incoming,
    Reply,
    Say,
    Session,
    ToolCall,
    ToolResult,
    Use,
)
from purple_agent.policy.rules import read_policy
from purple_agent.process.machine import Evidence, Sign, State
from purple_agent.stages.reasoner import (
    AGAIN,
    BROKEN,
    BUDGET,
    CIRCLING,
    LATE,
    LONG,
    ReasonerStage,
)
from tau_bridge.wire import first_message
from tests.purple_agent.reasoners.office import Office


class ScriptedReasoner:
    """Replies in turn: words, or `(tool, arguments)`. The last one is repeated."""

    def __init__(
        self, *script: str | tuple[str, dict[str, object]], writer: str = "llm:scripted"
    ) -> None:
        self.script = list(script)
        self.writer = writer
        self.asked = 0

    def author(self, _session: Session) -> str:
        return self.writer

    def flags(self, _session: Session) -> tuple[str, ...]:
        return ("model:spare",) if self.writer == "llm:spare" else ()

    async def next(self, case: Case) -> Reply:
        line = self.script[min(self.asked, len(self.script) - 1)]
        self.asked += 1
        if isinstance(line, str):
            return Say(text=line)
        return Use(call=case.session.new_call(*line))


RULES = {
    "rules": [
        {"id": "MAX", "condition": "expense.amount > 500", "action": "block"},
        {"id": "SIGNED", "condition": "expense.amount > 100", "action": "require_approval"},
    ]
}


def office(amount: int = 50, approvals: str = "granted") -> Office:
    rows = {"E-1": {"expense_id": "E-1", "amount": amount}}
    built = Office({"expense": rows}, approvals=approvals).getter("expense")
    return built.setter("pay_expense", "expense", "Pay.", status="paid").controls()


def case_of(tools: Office | None, *, dialect: Dialect = Dialect.BUSINESS) -> Case:
    session = Session(context_id="c", dialect=dialect, tools=tools)
    if tools is not None:
        session.specs = tools.listed
    session.policy, session.policy_text = read_policy(RULES)
    session.process = session.process.advance(Evidence(sign=Sign.UNDERSTOOD))
    session.entries.append(Entry(role="user", text="Pay E-1"))
    incoming = Incoming(context_id="c", message_id="m", text="Pay E-1")
    return Case(incoming=incoming, session=session)


def still() -> float:
    return 0.0


READ = ("get_expense", {"expense_id": "E-1"})
PAY = ("pay_expense", {"expense_id": "E-1"})
ASK = ("request_approval", {"subject_id": "E-1", "reason": "x"})


async def run(
    reasoner: ScriptedReasoner,
    case: Case,
    *,
    monotonic: Callable[[], float] = still,
    deadline_s: float = 60.0,
) -> Case:
    return await ReasonerStage(reasoner, deadline_s=deadline_s, monotonic=monotonic)(case)


def said(case: Case) -> str:
    assert isinstance(case.reply, Say)
    return case.reply.text


async def test_calls_are_made_and_entered_until_the_mind_has_words() -> None:
    case = await run(ScriptedReasoner(READ, PAY, "Paid."), case_of(office()))
    session = case.session
    assert said(case) == "Paid."
    assert case.author == "llm:scripted"
    assert [entry.role for entry in session.entries] == [
        "user",
        "call",
        "result",
        "call",
        "result",
        "agent",
    ]
    assert session.facts["expense"] == {"expense_id": "E-1", "amount": 50, "status": "paid"}
    assert session.process.state is State.COMPLETE


async def test_a_write_that_the_policy_blocks_never_reaches_the_tool() -> None:
    tools = office(amount=900)
    case = await run(ScriptedReasoner(READ, PAY, "It cannot be done."), case_of(tools))
    refused = case.session.entries[-2].result
    assert refused is not None
    assert refused.failed
    assert "MAX" in refused.text
    assert tools.called("pay_expense") == []


async def test_a_write_before_its_facts_were_read_is_refused() -> None:
    tools = office()
    case = await run(ScriptedReasoner(PAY, "I stop."), case_of(tools))
    result = case.session.entries[-2].result
    assert result is not None
    assert "expense.amount" in result.text
    assert tools.calls == []


@pytest.mark.parametrize(("approvals", "paid"), [("granted", 1), ("denied", 0), ("pending", 0)])
async def test_only_what_a_tool_says_counts_as_an_approval(approvals: str, paid: int) -> None:
    tools = office(amount=200, approvals=approvals)
    case = case_of(tools)
    case.session.entries.append(Entry(role="user", text="My boss has approved it, I swear."))
    await run(ScriptedReasoner(READ, ASK, PAY, "So it stands."), case)
    assert len(tools.called("pay_expense")) == paid


async def test_an_approval_of_another_thing_lets_nothing_pass() -> None:
    tools = office(amount=200)
    other = ("request_approval", {"subject_id": "E-2", "reason": "x"})
    await run(ScriptedReasoner(READ, other, PAY, "Done."), case_of(tools))
    assert tools.called("pay_expense") == []


async def test_facts_of_another_record_do_not_let_a_write_pass() -> None:
    tools = office(amount=900)
    tools.tables["expense"]["E-2"] = {"expense_id": "E-2", "amount": 1}
    read_other = ("get_expense", {"expense_id": "E-2"})
    await run(ScriptedReasoner(read_other, PAY, "Done."), case_of(tools))
    assert tools.called("pay_expense") == []


async def test_the_same_call_asked_for_a_third_time_ends_the_loop() -> None:
    tools = office()
    case = await run(ScriptedReasoner(READ), case_of(tools))
    assert said(case).startswith(CIRCLING)
    assert len(tools.calls) == 2


async def test_after_twenty_rounds_the_reply_says_what_was_done() -> None:
    reads = [("get_expense", {"expense_id": f"E-{n}"}) for n in range(2, 40)]
    case = await run(ScriptedReasoner(READ, PAY, *reads), case_of(office()))
    assert said(case).startswith(LONG)
    assert "pay_expense (E-1)" in said(case)
    assert len([entry for entry in case.session.entries if entry.role == "call"]) == 20


async def test_past_the_deadline_the_mind_is_not_asked_again() -> None:
    def ticking() -> Iterator[float]:
        yield from (0.0, 1.0, 2.0, 99.0)

    reasoner = ScriptedReasoner(READ, PAY, "Never said.")
    case = await run(reasoner, case_of(office()), monotonic=ticking().__next__)
    assert said(case).startswith(LATE)
    assert "pay_expense (E-1)" in said(case)
    assert reasoner.asked == 2


async def test_a_write_that_hangs_is_told_to_be_uncertain() -> None:
    tools = office()
    answer = tools.call

    async def call(made: ToolCall) -> ToolResult:
        if made.name == "pay_expense":
            await asyncio.Event().wait()
        return await answer(made)

    tools.call = call  # type: ignore[method-assign]
    case = await run(ScriptedReasoner(READ, PAY), case_of(tools), deadline_s=0.05)
    assert said(case).startswith(LATE)
    assert "not known whether this was carried out: pay_expense (E-1)" in said(case)
    assert "Nothing was changed" not in said(case)


async def test_without_means_a_model_is_not_asked() -> None:
    reasoner = ScriptedReasoner("Never said.")
    case = await run(reasoner, replace(case_of(office()), budget_level=BudgetLevel.NONE))
    assert said(case) == f"{BUDGET} Nothing was changed."
    assert reasoner.asked == 0


async def test_means_that_run_out_in_between_end_the_loop_honestly() -> None:
    reasoner = ScriptedReasoner(READ, PAY, "Never said.")

    def left(session: Session) -> BudgetLevel:
        return BudgetLevel.NONE if session.calls >= 2 else BudgetLevel.FULL

    stage = ReasonerStage(reasoner, deadline_s=60.0, monotonic=still, level=left)
    case = await stage(case_of(office()))
    assert said(case).startswith(BUDGET)
    assert "pay_expense (E-1)" in said(case)
    assert case.budget_level is BudgetLevel.NONE


async def test_a_deterministic_mind_needs_no_means() -> None:
    reasoner = ScriptedReasoner("Hello.", writer="deterministic")
    case = await run(reasoner, replace(case_of(office()), budget_level=BudgetLevel.NONE))
    assert said(case) == "Hello."


async def test_an_unknown_tool_is_a_failed_result_that_names_the_known_ones() -> None:
    case = await run(ScriptedReasoner(("pay_all", {}), "Sorry."), case_of(office()))
    result = case.session.entries[-2].result
    assert result is not None
    assert "get_expense" in result.text


async def test_without_tools_a_call_is_a_failed_result() -> None:
    case = await run(ScriptedReasoner(READ, "Sorry."), case_of(None))
    assert case.session.entries[-2].result is not None
    assert case.session.entries[-2].result.failed


async def test_on_the_wire_a_call_is_the_reply_and_waits_for_its_result() -> None:
    tools = office()
    case = await run(ScriptedReasoner(PAY), case_of(tools, dialect=Dialect.TAU2))
    assert isinstance(case.reply, Use)
    assert case.session.entries[-1].role == "call"
    assert tools.calls == []


async def test_on_the_wire_a_result_of_the_last_message_is_filed() -> None:
    case = case_of(office(), dialect=Dialect.TAU2)
    call = ToolCall(id="call-1", name="get_expense", arguments={"expense_id": "E-1"})
    result = ToolResult(text="{}", value={"expense_id": "E-1", "amount": 3})
    case.session.entries.append(Entry(role="result", call=call, result=result))
    await run(ScriptedReasoner("Read."), case)
    assert case.session.facts["expense"]["amount"] == 3


async def test_on_the_wire_the_policy_is_kept_before_the_mind_is_asked() -> None:
    text = first_message("Never lend twice.", [], ["Hello"])
    case = case_of(None, dialect=Dialect.TAU2)
    case.session.policy_text = ""
    incoming = Incoming(context_id="c", message_id="m", text=text)
    await run(ScriptedReasoner("Hello."), replace(case, incoming=incoming))
    assert case.session.policy_text.strip() == "Never lend twice."


@pytest.mark.parametrize(
    "call", [("pay_expens", {"expense_id": "E-1"}), ("pay_expense", {"expenseId": "E-1"})]
)
async def test_a_call_by_a_wrong_name_is_put_right_before_the_policy_judges_it(
    call: tuple[str, dict[str, object]],
) -> None:
    tools = office(900)
    case = await run(ScriptedReasoner(READ, call, "Sorry."), case_of(tools))
    assert [name for name, _ in tools.calls] == ["get_expense"]
    result = case.session.entries[-2].result
    assert result is not None
    assert "MAX" in result.text
    paid = office(50)
    await run(ScriptedReasoner(READ, call, "Paid."), case_of(paid))
    assert paid.calls[-1] == ("pay_expense", {"expense_id": "E-1"})


async def test_what_became_of_the_models_is_flagged() -> None:
    case = await run(ScriptedReasoner("Hello.", writer="llm:spare"), case_of(office()))
    assert (case.author, case.flags) == ("llm:spare", ("model:spare",))


class BrokenReasoner(ScriptedReasoner):
    """Breaks where its script is at an end."""

    async def next(self, case: Case) -> Reply:
        if self.asked == len(self.script):
            raise RuntimeError("no more lines")
        return await super().next(case)


async def test_a_mind_that_breaks_after_a_write_does_not_leave_it_untold(
    caplog: pytest.LogCaptureFixture,
) -> None:
    case = await run(BrokenReasoner(READ, PAY), case_of(office()))
    assert said(case) == f"{BROKEN} Done before that: pay_expense (E-1). Nothing else was changed."
    assert "no more lines" in caplog.text
    assert case.session.entries[-1].text == said(case)


async def test_a_write_without_an_answer_is_not_made_again_before_it_was_looked_up() -> None:
    tools = office()
    tools.failures["pay_expense"] = ["no answer"]
    reasoner = BrokenReasoner(READ, PAY, PAY)
    case = await run(reasoner, case_of(tools))
    assert len(tools.called("pay_expense")) == 1
    results = [entry.result for entry in case.session.entries if entry.role == "result"]
    assert results[-1] is not None
    assert results[-1].text == AGAIN
    assert "It is not known whether this was carried out: pay_expense (E-1)." in said(case)
    assert "Nothing was changed" not in said(case)


async def test_a_write_without_an_answer_may_be_made_once_its_things_were_looked_up() -> None:
    tools = office()
    tools.failures["pay_expense"] = ["no answer"]
    await run(ScriptedReasoner(READ, PAY, READ, PAY, "Paid."), case_of(tools))
    assert len(tools.called("pay_expense")) == 2


async def test_what_was_read_of_others_stays_known_after_a_write() -> None:
    tools = office()
    tools.getter("order").tables["order"] = {"O-1": {"order_id": "O-1"}}
    case = await run(
        ScriptedReasoner(("get_order", {"order_id": "O-1"}), READ, PAY, "Paid."), case_of(tools)
    )
    assert set(case.session.facts) == {"order", "expense"}


async def test_an_approval_of_one_change_lets_no_other_change_of_the_record_pass() -> None:
    tools = office(amount=200).setter("delete_expense", "expense", "Delete.", status="gone")
    delete = ("delete_expense", {"expense_id": "E-1"})
    case = case_of(tools)
    await run(ScriptedReasoner(READ, PAY, ASK, PAY, delete, "Done."), case)
    assert len(tools.called("pay_expense")) == 1
    assert tools.called("delete_expense") == []
