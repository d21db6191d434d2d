"""The graph of who called whom."""

import json

from evals.base import Evaluation
from evals.trace import ASSESSOR, CALLER_KIND, USER, Provenance
from tests.adk_agent.present.page.kept_run import RUN, keep_run, page_of, record, row, step, text_of
from tests.adk_agent.results.team_trials import graph
from tests.adk_agent.results.team_trials import row as team_row_of


def test_the_graph_tells_observed_and_reported_calls_weak_spots_and_the_assessor_apart(tmp_path):
    told = {"provenance": Provenance.REPORTED}
    steps = (
        step(1, ASSESSOR, "lead"),
        step(2, "lead", "a"),
        step(3, "lead", "b", **told),
        step(4, "lead", "c"),
        step(5, "lead", "c", **told),
    )
    graph = Evaluation(
        evaluator="graph",
        version="1",
        tier=1,
        status="scored",
        details={"findings": [{"name": "bottleneck", "agents": ["lead"], "statement": "x"}]},
    )
    judge = Evaluation(evaluator="judge", version="1", tier=2, status="unscored", reason="no key")
    whole = record(
        row("http://x.test", "a"), steps=steps, evaluations=(graph, judge), roster=("lead", "idle")
    )
    page = page_of(keep_run(tmp_path, [whole]))
    for kind, times in (("observed", 2), ("reported", 1), ("both", 1)):
        assert page.count(f'<path class="edge {kind}"') == times
    shown = text_of(page)
    assert "5 agents, 4 calls between them in 1 trial, 2 of them reported and not seen" in shown
    assert "weak spots: lead (bottleneck in 1 of 1 trial)" in shown
    assert page.count('class="node idle"') == 1
    assert page.count('<rect class="node assessor" x="') == 2  # one of them in the legend
    assert "judge: unscored 1 no key" in shown


def test_a_team_called_by_its_address_is_drawn_with_the_member_that_answers_there(tmp_path):
    outside = {"additional_attributes": {CALLER_KIND: USER}}
    steps = (
        step(1, ASSESSOR, "http://x.test", **outside),
        step(2, "lead", "a", parent_step_id="t.1"),
    )
    whole = record(row("http://x.test", "one"), steps=steps, roster=("a", "lead"))
    page = page_of(keep_run(tmp_path, [whole]))
    assert "<title>green-agent to lead: 1 call, median 10 ms</title>" in page
    assert "2 agents, 1 call between them" in text_of(page)


def test_the_table_has_time_tokens_and_cost_of_each_pair_and_says_of_how_many_calls(tmp_path):
    steps = (
        step(1, ASSESSOR, "lead"),
        step(2, "lead", "a", lasts_ms=10, total_tokens=1_000, cost=0.5),
        step(3, "lead", "a", lasts_ms=30),
        step(4, "lead", "a", lasts_ms=900, error="it broke"),
    )
    page = page_of(keep_run(tmp_path, [record(row("http://x.test", "one"), steps=steps)]))
    assert "lead a 3 3 0 1 20 ms – 1,000 in 1 of them $0.5000" in text_of(page)
    assert "<title>lead to a: 3 calls, median 20 ms, 1 failed, 1,000 tokens</title>" in page
    assert all(f">{line}</tspan>" in page for line in ("3× 20 ms", "1 failed", "1k tokens"))


def test_a_pair_that_talked_often_has_a_95th_percentile(tmp_path):
    often = (step(n, "lead", "a", lasts_ms=10 * n) for n in range(1, 21))
    once_less = (step(20 + n, "lead", "b", lasts_ms=10 * n) for n in range(1, 20))
    steps = (*often, *once_less)
    page = page_of(keep_run(tmp_path, [record(row("http://x.test", "one"), steps=steps)]))
    # of 10, 20 ... 200 ms, by hand: rank 0.95 * 19 = 18.05, so 190 + 0.05 * 10
    assert "<title>lead to a: 20 calls, median 105 ms, p95 190 ms</title>" in page
    assert "<title>lead to b: 19 calls, median 100 ms</title>" in page


def test_calls_that_were_reported_otherwise_than_they_were_seen_are_counted(tmp_path):
    of = row("http://x.test", "a")
    steps = (step(1, ASSESSOR, "lead"), step(2, "lead", "a"))
    folder = keep_run(tmp_path, [record(of, steps=steps)])
    path = folder / RUN / "report.json"
    report = json.loads(path.read_text())
    told = team_row_of({"graph": graph("hub", not_believed=2)}).model_dump(mode="json")
    path.write_text(
        json.dumps({**report, "teams": [{**told, "participant": of.participant, "domain": "mock"}]})
    )
    assert "Reported otherwise than seen: 2 calls." in text_of(page_of(folder))
