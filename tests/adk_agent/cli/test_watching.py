"""`status --watch`: a run on one screen, read from the files that another process writes."""

import functools
import io
import json

import pytest
from rich.console import Console

from adk_agent.cli.main import main
from adk_agent.cli.watching import watch
from adk_agent.core.errors import RequestError
from adk_agent.results.progress import Progress
from adk_agent.results.running_scores import EndedTrial, RunningScores
from adk_agent.runs.tracking import read_status, tracked_run
from adk_agent.runs.trial_lines import TrialLines
from evals.statistics import interval_of_mean
from tests.fakes.runtime import manual_runtime

CLOCK = manual_runtime().clock
ROW = {
    "participant": "agent",
    "domain": "mock",
    "task_id": "t1",
    "trial": 0,
    "seed": 1,
    "status": "scored",
    "reward": 1.0,
    "reward_breakdown": {},
    "reason": None,
    "termination": "user_stop",
    "user": "scripted",
    "turns": 1,
    "tool_calls": 0,
    "format_repairs": 0,
    "duration_ms": 1.0,
    "trace_id": "x",
}
DIAGNOSIS = {"kind": "missing_write", "side": "agent", "summary": "create_task was never called"}


def line(**fields):
    """A line of trials.jsonl: its row, and what a reader of rows passes over."""
    return json.dumps({"row": {**ROW, **fields}, "messages": [{"role": "[/b]"}]}).replace(
        '{"row": ', '{"row":', 1
    )


def progress(done, **fields):
    return Progress(
        stage="playing", run_id="r1", message="m", done=done, total=4, passed=1, **fields
    )


class Play:
    """A run whose process does the next step whenever the one that watches waits."""

    def __init__(self, results_dir, *steps):
        self._steps = iter(steps)
        self._trials = results_dir / "r1" / "trials.jsonl"
        self._tracked = tracked_run(results_dir, "r1", request="r", clock=CLOCK)
        self._tracker = self._tracked.__enter__()

    def __call__(self, seconds):
        lines, done = next(self._steps, ((), None))
        with self._trials.open("a", encoding="utf-8") as file:
            file.writelines(f"{each}\n" for each in lines)
        if done is not None:
            self._tracker.on_progress(progress(done, seconds_left=7.4))
            self._tracker.end("running")
            return
        self._tracker.end("incomplete")
        self._tracked.__exit__(None, None, None)


def shown(results_dir, play, *, terminal, height=40, width=100):
    text = io.StringIO()
    console = Console(
        file=text, force_terminal=terminal, width=width, height=height, highlight=False
    )
    status = watch(results_dir, "r1", console=console, wait=play)
    return status, text.getvalue()


def test_on_a_terminal_one_screen_shows_scores_time_left_and_what_did_not_pass(tmp_path):
    play = Play(
        tmp_path,
        ([line(), line(task_id="t2", reward=0.0, diagnosis=DIAGNOSIS)], 2),
        ([line(task_id="t3", status="failed", reward=None, reason="[/b] gone\x1b[2J\nfar")], 3),
    )
    status, screen = shown(tmp_path, play, terminal=True)
    assert status.state == "incomplete"
    assert "Run r1: running" in screen
    assert "2 of 4 played, 1 passed, about 7 s left" in screen
    last = screen[screen.rindex("Run r1: incomplete") :]
    interval = interval_of_mean([1.0, 0.0, 0.0]).reaching(interval_of_mean([1.0, 0.0, 1.0]))
    assert f"0.333-0.667   {interval.low:.3f} to {interval.high:.3f}" in last
    not_passed = "agent mock t2 trial 0: not passed: missing write: create_task was never called"
    failed = r"agent mock t3 trial 0: failed: [/b] gone\x1b[2J far"
    assert last.index(not_passed) < last.index(failed)


def test_a_low_screen_shows_the_newest(tmp_path):
    lines = [line(task_id=f"t{n}", reward=0.0) for n in range(30)]
    _, screen = shown(tmp_path, Play(tmp_path, (lines, 30)), terminal=True, height=16)
    last = screen[screen.rindex("Run r1: incomplete") :]
    assert "t29 trial 0: not passed" in last
    assert "t10 trial" not in last
    assert len(last.splitlines()) <= 16


def test_elsewhere_every_change_is_a_line(tmp_path, capsys):
    play = Play(
        tmp_path,
        ([line()], 1),
        ([line(task_id="t2", status="unscored", reward=None, reason="no judge")], 2),
        ((), 2),
    )
    text = io.StringIO()
    watch(tmp_path, "r1", console=Console(file=text), wait=play)
    out = capsys.readouterr().out.splitlines()
    assert len(out) == 4, out
    assert out[0].startswith("1 of 4 played, 1 passed, about 7 s left; agent in mock: pass^1 1.000")
    assert out[1] == "agent mock t2 trial 0: unscored: no judge"
    assert out[2].startswith("2 of 4 played")
    interval = interval_of_mean([1.0])
    assert out[3].endswith(f"pass^1 1.000 ({interval.low:.3f} to {interval.high:.3f})")


def test_a_watched_run_ends_with_its_own_exit_code(tmp_path, capsys):
    with tracked_run(tmp_path, "r1", request="r", clock=CLOCK) as tracker:
        tracker.on_progress(progress(4))
        tracker.end("canceled")
    assert main(["status", "--watch", "--results-dir", str(tmp_path)]) == 130
    assert "Run r1: canceled" in capsys.readouterr().out


def test_to_end_watching_is_exit_130_and_leaves_the_run_alone(tmp_path, monkeypatch):
    def interrupt(seconds):
        raise KeyboardInterrupt

    monkeypatch.setattr("adk_agent.cli.status.watch", functools.partial(watch, wait=interrupt))
    with tracked_run(tmp_path, "r1", request="r", clock=CLOCK) as tracker:
        tracker.on_progress(progress(1))
        before = {path.name: path.read_bytes() for path in (tmp_path / "r1").iterdir()}
        watching = ["status", "r1", "--watch", "--results-dir", str(tmp_path)]
        assert main(watching) == 130
        after = {path.name: path.read_bytes() for path in (tmp_path / "r1").iterdir()}
        assert after == before
        tracker.end("complete")


def test_a_run_that_is_not_there_cannot_be_watched(tmp_path):
    with pytest.raises(RequestError, match="there is no run 'r1'"):
        watch(tmp_path, "r1")


def test_how_long_it_takes_is_told_of_a_run_that_goes_on_alone(tmp_path, capsys):
    with tracked_run(tmp_path, "r1", request="r", clock=CLOCK) as tracker:
        tracker.on_progress(progress(3, seconds_left=2.0))
        assert read_status(tmp_path, "r1").progress.seconds_left == 2.0
    for state in ("running", "canceled"):
        with tracked_run(tmp_path, "r1", request="r", clock=CLOCK) as tracker:
            tracker.on_progress(progress(3, seconds_left=2.0))
            tracker.end(state)
        assert main(["status", "r1", "--results-dir", str(tmp_path)]) == 0
        assert " s left" not in capsys.readouterr().out
        assert main(["status", "r1", "--json", "--results-dir", str(tmp_path)]) == 0
        assert json.loads(capsys.readouterr().out)["progress"]["seconds_left"] is None


def test_as_json_watching_is_a_line_for_each_change(tmp_path, capsys):
    with tracked_run(tmp_path, "r1", request="r", clock=CLOCK) as tracker:
        tracker.end("complete")
    assert main(["status", "--watch", "--json", "--results-dir", str(tmp_path)]) == 0
    assert json.loads(capsys.readouterr().out)["state"] == "complete"


def test_a_line_is_read_once_and_not_before_it_is_whole(tmp_path):
    lines = TrialLines(tmp_path)
    assert lines.new() == []
    whole = line(reward=0.0) + "\n"
    with (tmp_path / "trials.jsonl").open("w") as file:
        file.write(whole + whole[:100])
        file.flush()
        assert [trial.outcome for trial in lines.new()] == ["not passed"]
        assert lines.new() == []
        file.write(whole[100:])
        file.flush()
        assert [trial.task_id for trial in lines.new()] == ["t1"]


@pytest.mark.parametrize(
    "damaged", ["nonsense", "[1]", '{"row":', '{"row":{}}', "[" * 100_000, '{"row":1}\xff']
)
def test_a_line_that_cannot_be_read_is_counted_and_the_others_are_read(tmp_path, damaged):
    later = json.dumps({"schema": 9, "row": ROW})
    text = f"\n{damaged}\n{line()}\n \n{later}\n"
    (tmp_path / "trials.jsonl").write_text(text, encoding="latin-1")
    lines = TrialLines(tmp_path)
    assert [trial.outcome for trial in lines.new()] == ["passed", "passed"]
    assert lines.unreadable == 1


def ended(outcome, *, task="t1", trial=0, participant="a"):
    return EndedTrial(
        participant=participant, domain="mock", task_id=task, trial=trial, outcome=outcome
    )


def test_a_score_so_far_is_the_mean_over_tasks_and_of_a_repeated_trial_the_last_counts():
    running_scores = RunningScores({("b", "mock"): ["t1"], ("a", "mock"): ["t3", "t2", "t1"]})
    for trial in range(3):
        running_scores.add(ended("not passed", trial=trial))
    running_scores.add(ended("passed", task="t2"))
    running_scores.add(ended("failed", task="t3"))
    running_scores.add(ended("passed", participant="b"))
    first, second = running_scores.exact_scores()
    assert (first.participant, first.pass_1) == ("b", 1.0)
    assert (second.tasks, second.trials, second.scored) == (2, 5, 4)
    assert (second.pass_1, second.pass_1_high) == (0.333333, 0.666667)
    low, high = (
        interval_of_mean([0.0, 1.0, 0.0]),
        interval_of_mean([1.0, 1.0, 0.0]),
    )  # in that order
    assert second.interval == low.reaching(high)
    running_scores.add(ended("passed", task="t3"))
    assert running_scores.exact_scores()[1].pass_1 == pytest.approx(2 / 3)
    assert running_scores.counts == {"passed": 3, "not passed": 3, "failed": 0}
    assert running_scores.done == 6


def test_scores_of_a_long_run_are_renewed_by_the_fiftieth():
    running_scores = RunningScores()
    told = set()
    for number in range(2_000):
        running_scores.add(ended("passed", task=f"t{number % 10}", trial=number // 10))
        (score,) = running_scores.scores()
        assert running_scores.done - score.trials <= running_scores.done / 50
        told.add(score.trials)
    assert len(told) < 300


def test_scores_move_too_while_trials_are_played_again():
    running_scores = RunningScores()
    for task in range(10):
        running_scores.add(ended("not passed", task=f"t{task}"))
    assert running_scores.scores()[0].pass_1 == 0.0
    for task in range(10):
        running_scores.add(ended("passed", task=f"t{task}"))
        assert running_scores.scores()[0].pass_1 == pytest.approx((task + 1) / 10)
