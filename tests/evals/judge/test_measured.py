"""What judges read of the metrics."""

import json

import pytest

from evals.judge.measured import MAX_METRICS_BYTES, Measured

LINE_BYTES = 50
FITTING = MAX_METRICS_BYTES // LINE_BYTES


def metric_lines(count):
    """The lines of so many metrics, each of `LINE_BYTES` with its line break."""
    around = len(json.dumps({"metric": "", "value": 0.5})) + 1
    names = [f"m{number:0{LINE_BYTES - around - 1}}" for number in range(count)]
    measured = Measured(labels=(), metrics=dict.fromkeys(names, 0.5), findings=())
    return [json.loads(line) for line in measured.as_json().splitlines()[1:]]


@pytest.mark.parametrize(("count", "left_out"), [(FITTING, 0), (FITTING + 1, 1), (200, 140)])
def test_as_many_metrics_are_shown_as_fit_and_the_others_are_counted(count, left_out):
    assert FITTING * LINE_BYTES == MAX_METRICS_BYTES
    *shown, last = metric_lines(count)
    assert ("metrics_left_out" in last) == bool(left_out)
    assert last.get("metrics_left_out", 0) == left_out
    assert len(shown) == (count - 1 if not left_out else FITTING)
