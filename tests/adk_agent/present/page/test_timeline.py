"""The steps of a trace by time."""

from adk_agent.present.page.timeline import timeline
from evals.trace import ASSESSOR, Provenance, Trace
from tests.adk_agent.present.page.kept_run import step


def test_a_timeline_keeps_the_clocks_of_participants_within_what_was_seen():
    seen = step(1, ASSESSOR, "a", lasts_ms=50)
    ahead = step(2, "a", "b", begins_ms=9_999_999, provenance=Provenance.REPORTED)
    untimed = step(3, "a", "c", start_time=None, provenance=Provenance.REPORTED)
    found = timeline(Trace(trace_id="t", steps=(seen, ahead, untimed)))
    assert found["lanes"] == ["a", "b"]
    assert [(each["at"], each["to"]) for each in found["steps"]] == [(0.0, 50.0), (50.0, 50.0)]
    assert found["untimed"] == 1
