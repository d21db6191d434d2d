"""report.html from what is on disk, however the run ended."""

import re

from adk_agent.present.page.writing import write_page
from evals.trace import ASSESSOR
from tau_bridge.benchmarks import Benchmarks
from tests.adk_agent.present.page.kept_run import (
    RUN,
    keep_run,
    page_of,
    record,
    row,
    step,
    text_of,
    unpacked,
)


def test_an_interrupted_run_shows_what_was_played_and_what_was_not(tmp_path):
    played = [record(row("http://x.test", "a")), record(row("http://x.test", "b", reward=0.0))]
    folder = keep_run(tmp_path, played, status="interrupted", trials=2, with_report=False)
    page = page_of(folder)
    assert page.count('class="cell missing" role="img" aria-label="not played"') == 2
    assert "Some trials were not played." in text_of(page)
    assert re.search(r"not played</th><td class=\"n\">2</td>", page)


def test_the_same_run_becomes_the_same_page(tmp_path):
    steps = (step(1, ASSESSOR, "lead"), step(2, "lead", "b"), step(3, "lead", "a"))
    played = [record(row("http://x.test", name), steps=steps) for name in "ab"]
    folder = keep_run(tmp_path, played)
    assert page_of(folder) == page_of(folder)


def test_a_run_of_a_benchmark_that_is_not_installed_still_becomes_a_page(tmp_path):
    called = {"id": "1", "name": "create_task", "arguments": {}}
    said = ({"role": "assistant", "tool_calls": [called]},)
    folder = keep_run(tmp_path, [record(row("http://x.test", "a", reward=0.0), messages=said)])
    there = page_of(folder)
    page = write_page(folder, RUN, benchmarks=Benchmarks([])).read_text(encoding="utf-8")
    assert "Most often wrong: the database ended in another state (1 of 1" in text_of(there)
    assert "Most often wrong: DB (1 of 1" in text_of(page)
    assert unpacked(there)[0]["items"][0]["writes"] is True
    assert unpacked(page)[0]["items"][0]["writes"] is False
