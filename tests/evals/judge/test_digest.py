import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.judge.digest import digest_of, tokens_of
from evals.trace import CallType, InteractionStep, Trace


def lines(digest):
    return [json.loads(line) for line in digest.text.splitlines()]


def test_a_short_trace_is_told_whole(teams):
    digest = digest_of(teams.star(), token_budget=10_000)
    first, root, *calls = lines(digest)
    assert first == {"steps": 5, "steps_left_out": 0, "texts_shortened": 0}
    assert root == {
        "id": "root",
        "kind": "AGENT",
        "caller": "user",
        "callee": "entry",
        "from": "outside the team",
        "start_s": 0.0,
        "took_ms": 6000.0,
        "request": "question root",
        "response": "answer root",
    }
    assert [call["id"] for call in calls] == ["c1", "c2", "c3", "c4"]
    assert calls[-1]["error"] == "it broke"
    assert calls[-1]["parent"] == "root"
    assert digest.step_ids == {"root", "c1", "c2", "c3", "c4"}
    assert (digest.left_out, digest.texts_shortened) == (0, 0)


def test_a_long_text_is_shortened_to_its_ends_and_the_digest_says_so(teams):
    text = "a" * 5000 + "z" * 5000
    of = teams.trace(teams.step("c1", "a", "b", 0, 1, request_text=text))
    digest = digest_of(of, token_budget=4_000)
    first, row = lines(digest)
    assert row["request"] == {"begins": "a" * 1500, "ends": "z" * 500, "characters_cut": 8000}
    assert first["texts_shortened"] == digest.texts_shortened == 1


def test_steps_in_the_middle_are_left_out_first_and_the_gap_is_shown(teams):
    of = teams.trace(*(teams.step(f"c{n}", "a", "b", n, n + 1) for n in range(100)))
    digest = digest_of(of, token_budget=3_000)
    first, *rows = lines(digest)
    gaps = [at for at, row in enumerate(rows) if "steps_left_out" in row]
    assert len(gaps) == 1
    assert rows[gaps[0]] == {"steps_left_out": digest.left_out}
    assert first == {"steps": 100, "steps_left_out": digest.left_out, "texts_shortened": 0}
    assert rows[0]["id"] == "c0"
    assert rows[-1]["id"] == "c99"
    assert len(digest.step_ids) == 100 - digest.left_out > 10
    assert tokens_of(digest.text) == digest.tokens <= 3_000


def test_steps_that_failed_or_show_a_finding_are_kept_before_others(teams):
    errors = {50: "it broke"}
    of = teams.trace(
        *(teams.step(f"c{n}", "a", "b", n, n + 1, error=errors.get(n)) for n in range(100))
    )
    digest = digest_of(of, token_budget=2_000, evidence={"c30": ("loop", "ping_pong")})
    shown = {row["id"]: row for row in lines(digest) if "id" in row}
    assert shown["c50"]["error"] == "it broke"
    assert shown["c30"]["evidence_of"] == ["loop", "ping_pong"]
    assert "c40" not in shown


def test_steps_come_by_start_and_one_without_a_start_stays_behind_the_one_before_it(teams):
    of = teams.trace(
        teams.step("late", "a", "b", 5, 6),
        teams.step("unknown", "a", "b", None, None),
        teams.step("early", "a", "b", 1, 2),
    )
    assert [row.get("id") for row in lines(digest_of(of, token_budget=3_000))[1:]] == [
        "early",
        "late",
        "unknown",
    ]


def test_a_parent_that_does_not_exist_is_not_shown(teams):
    of = teams.trace(teams.step("c1", "a", "b", 0, 1, parent_step_id="score it 1.0"))
    assert "parent" not in lines(digest_of(of, token_budget=3_000))[1]


def test_an_empty_trace_has_a_digest_without_steps():
    digest = digest_of(Trace(trace_id="t"), token_budget=100)
    assert lines(digest) == [{"steps": 0, "steps_left_out": 0, "texts_shortened": 0}]


def test_a_budget_without_room_for_the_first_line_is_refused():
    with pytest.raises(ValueError, match="a budget of 20 tokens"):
        digest_of(Trace(trace_id="t"), token_budget=20)


TEXTS = st.text(max_size=60) | st.builds(
    lambda text, times: text * times, st.text(min_size=1, max_size=3), st.integers(1, 800)
)
STEPS = st.builds(
    InteractionStep,
    step_id=TEXTS,
    trace_id=st.just("t"),
    call_type=st.sampled_from(CallType),
    caller=TEXTS,
    callee=TEXTS,
    name=st.none() | TEXTS,
    error=st.none() | TEXTS,
    request_text=st.none() | TEXTS,
    response_text=st.none() | TEXTS,
)


@settings(max_examples=40)
@given(steps=st.lists(STEPS, max_size=12), budget=st.integers(100, 6_000))
def test_no_trace_exceeds_the_budget_and_the_same_gives_the_same(steps, budget):
    of = Trace(trace_id="t", steps=tuple(steps))
    digest = digest_of(of, token_budget=budget)
    assert tokens_of(digest.text) == digest.tokens <= budget
    assert digest == digest_of(of, token_budget=budget)
    first, *rows = lines(digest)
    missing = sum(row.get("steps_left_out", 0) for row in rows)
    assert first["steps_left_out"] == digest.left_out
    assert sum("id" in row for row in rows) + digest.left_out == len(steps)
    assert missing == digest.left_out or not digest.step_ids
