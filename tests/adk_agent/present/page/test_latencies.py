"""The histogram of how long participants took to answer."""

from adk_agent.present.page.latencies import latencies


def test_a_histogram_counts_every_reply_on_one_axis_for_all():
    found = latencies(["a", "b", "c"], {"a": [10.0] * 9 + [1000.0], "b": [100.0]}, {"a": 2})
    a, b = found.rows
    assert (a.replies, a.failed, a.figures["p50"], a.figures["max"]) == (10, 2, "10 ms", "1.0 s")
    assert [bar.height for bar in a.bars] == [100.0, 11.11]
    middle = b.marks[0].x
    assert a.bars[0].x < middle < a.bars[1].x
    assert {tick.label for tick in found.ticks} >= {"10 ms", "100 ms"}
