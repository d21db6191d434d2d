"""A wall clock that is set while an evaluation runs changes no figure of it."""

import itertools
import json
from datetime import timedelta

import pytest

from adk_agent.play.evaluation import evaluate
from adk_agent.runs.store import load_trials
from adk_agent.runs.tracking import read_status
from tau_bridge.clock import Runtime
from tests.fakes import scripted_agent, serve
from tests.fakes.runtime import ManualClock

JUMPS = {
    "set back by NTP": itertools.cycle([0, -3, -90, -3600]),
    "a day ahead": itertools.chain([0, 0, 0], itertools.repeat(86_400)),
    "to and fro": itertools.cycle([0, 86_400, -86_400, 7]),
}


class JumpingClock(ManualClock):
    """Moves on by a quarter of a second with each look, and is set anew with each of the time."""

    def __init__(self, jumps):
        super().__init__()
        self._jumps = iter(jumps)

    def now(self):
        return super().now() + timedelta(seconds=next(self._jumps))

    def monotonic_s(self):
        self.advance(0.25)
        return super().monotonic_s()


@pytest.mark.parametrize("jumps", JUMPS.values(), ids=JUMPS)
async def test_a_clock_that_is_set_changes_no_figure(make_team_deps, make_plan, jumps, tmp_path):
    reports, records = [], []
    with serve(scripted_agent(lambda text, context_id: "I cannot help with that.")) as url:
        for name, each in (("steady", itertools.repeat(0)), ("jumping", jumps)):
            numbers = itertools.count(1)
            ids = lambda numbers=numbers: f"id-{next(numbers)}"  # noqa: E731
            deps = make_team_deps(
                runtime=Runtime(clock=JumpingClock(each), new_id=ids), results_dir=tmp_path / name
            )
            plan = make_plan(url, task_ids=("create_task_1", "update_task_1"), max_concurrency=1)
            report = await evaluate(plan, deps, request="")
            assert read_status(tmp_path / name, "run-1").state == "complete"
            fields = json.loads(report.to_json())
            del fields["created_at"]
            reports.append(fields)
            records.append(load_trials(tmp_path / name, "run-1"))
    assert reports[0] == reports[1]
    for record in records[1]:
        starts = [step.start_time for step in record.trace.steps]
        assert starts == sorted(starts)
        for step in record.trace.steps:
            lasted_ms = (step.end_time - step.start_time).total_seconds() * 1000
            assert lasted_ms == pytest.approx(step.latency_ms)
