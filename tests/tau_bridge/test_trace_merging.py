from collections import Counter
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from evals.graph.interactions import Interactions
from evals.trace import CALLER_KIND, USER, CallType, InteractionStep, Provenance, Trace
from tau_bridge.a2a.traceability import ReportedTrace, read_response_trace, write_response_trace
from tau_bridge.trace_merging import merge

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def step(name, caller, callee, text="hi", *, at=0, kind=CallType.AGENT, trace_id="t", **fields):
    start = NOON + timedelta(seconds=at)
    return InteractionStep(
        step_id=name,
        trace_id=trace_id,
        call_type=kind,
        caller=caller,
        callee=callee,
        request_text=text,
        start_time=start,
        end_time=start + timedelta(seconds=1),
        **fields,
    )


def observed(*steps):
    return Trace(trace_id="t", steps=steps)


def report(*steps, inside="ask", reporter="lead"):
    told = tuple(
        s.model_copy(update={"provenance": Provenance.REPORTED, "trace_id": "r"}) for s in steps
    )
    return ReportedTrace(trace_id="r", reporter=reporter, steps=told, inside=inside)


ASK = step("ask", "green-agent", "lead", "question")


def by_id(merged):
    return {s.step_id: s for s in merged.trace.steps}


def test_a_reported_call_that_was_seen_is_folded_into_the_observed_one():
    seen = step("o1", "lead", "orders", at=1, parent_step_id="ask")
    told = step("1", "lead", "orders", at=1.5, cost=0.5, total_tokens=7, response_text="told")
    merged = merge(observed(ASK, seen), [report(told)])
    steps = by_id(merged)
    assert list(steps) == ["ask", "o1"]
    folded = steps["o1"]
    assert (folded.provenance, folded.start_time) == (Provenance.OBSERVED, seen.start_time)
    assert (folded.cost, folded.total_tokens, folded.response_text) == (0.5, 7, None)
    assert folded.additional_attributes == {"reported_as": "1"}
    assert merged.problems == ()


def test_what_only_a_report_tells_joins_below_the_step_that_brought_it():
    told = [step("1", "lead", "orders", at=1),
            step("2", "orders", "table", at=2, kind=CallType.TOOL, parent_step_id="1")]  # fmt: skip
    steps = by_id(merge(observed(ASK), [report(*told)]))
    assert (steps["1"].parent_step_id, steps["2"].parent_step_id) == ("ask", "1")
    assert {s.trace_id for s in steps.values()} == {"t"}
    assert steps["1"].provenance is Provenance.REPORTED


def test_the_assessors_calls_enclose_where_calls_between_others_are_known():
    alone = merge(observed(ASK), [])
    assert by_id(alone)["ask"].additional_attributes == {}
    assert alone.trace == observed(ASK)
    with_team = merge(observed(ASK), [report(step("1", "lead", "orders"))])
    assert by_id(with_team)["ask"].additional_attributes == {CALLER_KIND: USER}


def test_a_report_that_begins_with_the_answered_call_is_folded_into_it():
    told = [step("1", USER, "lead", None, additional_attributes={CALLER_KIND: USER}),
            step("2", "lead", "orders", at=1, parent_step_id="1")]  # fmt: skip
    merged = merge(observed(ASK), [report(*told)])
    assert by_id(merged)["2"].parent_step_id == "ask"
    assert len(merged.trace.steps) == 2


def test_equal_calls_are_paired_in_order_of_time():
    seen = [step("o2", "lead", "orders", at=5), step("o1", "lead", "orders", at=1)]
    told = [step("x", "lead", "orders", at=2), step("y", "lead", "orders", at=6)]
    steps = by_id(merge(observed(*seen), [report(*told)]))
    assert [s.additional_attributes["reported_as"] for s in steps.values()] == ["x", "y"]


def test_a_guessed_parent_gives_way_to_the_reported_one():
    first, second = (step(f"o{n}", "lead", "a", f"q{n}", at=n) for n in (1, 2))
    guessed = step("o3", "a", "b", at=3, parent_step_id="o2",
                   additional_attributes={"parent_guessed": "true"})  # fmt: skip
    told = [step("1", "lead", "a", "q1", at=1), step("2", "lead", "a", "q2", at=2),
            step("3", "a", "b", at=3, parent_step_id="1")]  # fmt: skip
    merged = merge(observed(ASK, first, second, guessed), [report(*told)])
    assert by_id(merged)["o3"].parent_step_id == "o1"
    assert merged.problems == ()


def test_a_parent_that_was_seen_stays_and_the_report_contradicts_it():
    first, second = (step(f"o{n}", "lead", "a", f"q{n}", at=n) for n in (1, 2))
    sure = step("o3", "a", "b", at=3, parent_step_id="o2")
    told = [step("1", "lead", "a", "q1", at=1), step("2", "lead", "a", "q2", at=2),
            step("3", "a", "b", at=3, parent_step_id="1")]  # fmt: skip
    merged = merge(observed(ASK, first, second, sure), [report(*told)])
    kept = by_id(merged)["o3"]
    assert kept.parent_step_id == "o2"
    assert kept.additional_attributes["contradiction"] == "reported below another step"
    assert merged.problems == ("contradiction: 1 x reported below another step",)


def test_a_reported_step_between_a_call_and_its_parent_is_put_between_them():
    seen = step("o1", "lead", "orders", at=1, parent_step_id="ask")
    told = [step("plan", "lead", "plan", kind=CallType.TOOL, at=0.5),
            step("1", "lead", "orders", at=1, parent_step_id="plan")]  # fmt: skip
    merged = merge(observed(ASK, seen), [report(*told)])
    steps = by_id(merged)
    assert (steps["o1"].parent_step_id, steps["plan"].parent_step_id) == ("plan", "ask")
    assert merged.problems == ()


def test_what_differs_is_kept_as_a_contradiction_and_counted():
    seen = [step("o1", "lead", "a", error="refused"), step("o2", "lead", "b"),
            step("o3", "lead", "c"), step("o4", "lead", "d")]  # fmt: skip
    told = [step("1", "lead", "a"), step("2", "lead", "b", error="late"),
            step("3", "lead", "c", "another"), step("5", "lead", "e")]  # fmt: skip
    merged = merge(observed(*seen), [report(*told)])
    contradictions = {s.step_id: s.additional_attributes["contradiction"]
                      for s in merged.trace.steps}  # fmt: skip
    assert contradictions == {
        "o1": "failed, reported as a success",
        "o2": "succeeded, reported as failed: 'late'",
        "o3": "reported with another request: 'another'",
        "o4": "not reported",
        "5": "not observed",
    }
    assert len(merged.problems) == 5


def test_a_callee_that_differs_under_the_same_id_is_a_contradiction():
    merged = merge(observed(step("1", "lead", "a")), [report(step("1", "lead", "b"))])
    (kept,) = merged.trace.steps
    assert kept.callee == "a"
    assert kept.additional_attributes["contradiction"] == "reported with another callee: 'b'"


def test_a_report_that_does_not_tell_the_request_is_believed_without():
    merged = merge(observed(step("o", "lead", "a")), [report(step("1", "lead", "a", None))])
    assert merged.problems == ()
    assert len(merged.trace.steps) == 1


def test_clashing_ids_get_a_prefix_and_parents_follow():
    told = [step("ask", "lead", "a", at=1), step("2", "a", "b", at=2, parent_step_id="ask")]
    merged = merge(observed(ASK), [report(*told), report(step("2", "lead", "c", at=3))])
    links = [(s.step_id, s.parent_step_id) for s in merged.trace.steps]
    assert links == [("ask", None), ("r1:ask", "ask"), ("2", "r1:ask"), ("r2:2", "ask")]


def test_a_step_that_two_reports_tell_is_taken_once():
    told = step("1", "lead", "a", at=1)
    merged = merge(observed(ASK), [report(told), report(told, reporter="other")])
    assert [s.step_id for s in merged.trace.steps] == ["ask", "1"]


def test_reported_parents_in_a_circle_leave_the_observed_ones():
    seen = [step("o1", "lead", "a", at=1), step("o2", "a", "b", at=2)]
    told = [step("1", "lead", "a", at=1, parent_step_id="2"),
            step("2", "a", "b", at=2, parent_step_id="1")]  # fmt: skip
    merged = merge(observed(*seen), [report(*told, inside=None)])
    assert {s.parent_step_id for s in merged.trace.steps} == {None}
    assert merged.problems == ("contradiction: 2 x the reported parents form a circle",)


MEMBERS = ("lead", "orders", "policy", "math")


@st.composite
def call_trees(draw):
    """A truthful team's calls: (number, parent, caller, callee, text, start, end, error)."""
    calls = []

    def grow(caller, parent, start, depth):
        at = start
        for _ in range(draw(st.integers(0, 3 if depth < 3 else 0))):
            if len(calls) >= 12:
                break
            callee = draw(st.sampled_from([m for m in MEMBERS if m != caller]))
            text = draw(st.sampled_from(["a", "b", '{"x":1}']))
            number = len(calls)
            calls.append(None)
            inside = grow(callee, number, at + 0.001, depth + 1)
            failed = draw(st.booleans())
            calls[number] = (number, parent, caller, callee, text, at, inside, failed)
            at = inside + 0.001 if draw(st.booleans()) else at + 0.0005
        return max([at, *(c[6] for c in calls if c and c[1] == parent)]) + 0.001

    grow("lead", None, 1.0, 0)
    return calls


def as_steps(calls, prefix, root):
    for number, parent, caller, callee, text, start, end, failed in calls:
        yield InteractionStep(
            step_id=f"{prefix}{number}",
            trace_id="t",
            parent_step_id=root if parent is None else f"{prefix}{parent}",
            call_type=CallType.AGENT,
            caller=caller,
            callee=callee,
            request_text=text,
            start_time=NOON + timedelta(seconds=start),
            end_time=NOON + timedelta(seconds=end),
            error="failed" if failed else None,
        )


def graph(trace):
    team = Interactions.of(trace)
    calls = Counter((call.caller, call.callee, call.arguments, call.failed) for call in team.calls)
    return team.members, dict(team.weights), calls


@given(call_trees())
def test_the_graph_of_a_truthful_team_is_the_same_however_it_was_seen(calls):
    seen = observed(ASK, *as_steps(calls, "o", "ask"))
    written = write_response_trace(Trace(trace_id="t", steps=tuple(as_steps(calls, "r", None))))
    told = [read_response_trace(written, reporter="lead", inside="ask")]
    both = merge(seen, told)
    assert both.problems == ()
    assert graph(both.trace) == graph(merge(seen, []).trace)
    assert graph(both.trace) == graph(merge(observed(ASK), told).trace)
    coverage = Interactions.of(both.trace).coverage
    assert coverage == (1.0 if calls or both.trace.steps else None)


def test_a_call_that_nobody_saw_is_not_believed_where_others_were_seen():
    seen = step("o1", "lead", "orders", at=1, parent_step_id="ask", error="down")
    forged = [
        step("1", "lead", "orders", at=1, error="down"),
        step("2", "orders", "policy", "made up", at=2),
        step("3", "policy", "orders", at=3),  # a retry that never was
    ]
    merged = merge(observed(ASK, seen), [report(*forged)])
    kept = by_id(merged)
    assert kept["2"].additional_attributes["not_believed"] == "true"
    assert kept["2"].additional_attributes["contradiction"] == "not observed"
    team = Interactions.of(merged.trace)
    assert team.members == ("lead", "orders")
    assert dict(team.weights) == {("lead", "orders"): 1}
    assert (team.disbelieved, team.coverage) == (2, 1 / 3)
    assert any("should have been seen" in problem for problem in team.problems)


def test_where_nothing_was_seen_a_report_is_all_there_is():
    merged = merge(observed(ASK), [report(step("1", "lead", "orders"))])
    team = Interactions.of(merged.trace)
    assert (team.members, team.disbelieved, team.coverage) == (("lead", "orders"), 0, 0.0)


def test_a_step_that_says_it_was_ours_is_no_call_of_the_assessor():
    told = step("1", "green-agent", "orders", at=1)
    steps = by_id(merge(observed(ASK), [report(told)]))
    assert CALLER_KIND not in steps["1"].additional_attributes
