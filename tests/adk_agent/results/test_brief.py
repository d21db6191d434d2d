"""The markdown of a pull request: scores, the baseline, and nothing that an agent could misuse."""

import pytest

from adk_agent.results.brief import MOST_CHARS, MOST_LISTED, brief
from tests.adk_agent.results.compared import NEW, OLD, by_headlines, headline, one, report


def test_scores_difference_interval_and_test_stand_in_it():
    text = brief(report("now", one(OLD, 4)), baseline=report("then", one(OLD, 15)))
    assert "### Greenroom: run now" in text
    assert "| http://old:1 | mock | 20 |" in text
    assert "Against the baseline, run then of 2026-01-02" in text
    assert "- http://old:1: **worse**" in text
    assert "difference -0.550 (95 % interval -0.7" in text
    assert "permutation test over tasks: p = 0.00" in text
    assert "  - lost 11: mock/t04, mock/t05" in text
    assert "stale" not in text


def test_a_run_without_baseline_says_nothing_of_one():
    assert "baseline" not in brief(report("now", one(OLD, 4)))
    missing = brief(report("now", one(OLD, 4)), no_baseline="there is no run at 'x'")
    assert "#### No baseline\n\n- there is no run at 'x'" in missing


@pytest.mark.requirement("use:action")
@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"revision": "r0"}, "**The baseline is stale, nothing is compared**: runs then and now"),
        ({"versions": {"greenroom": "0"}}, "version of greenroom: 0 in the first run, 1 in the"),
    ],
)
def test_a_baseline_of_other_data_or_another_version_is_stale(changes, words):
    text = brief(report("now", one(OLD, 4)), baseline=report("then", one(OLD, 15), **changes))
    assert words in text


def test_a_baseline_of_other_tasks_is_stale():
    text = brief(report("now", one(OLD, 4, tasks=22)), baseline=report("then", one(OLD, 4)))
    assert "**The baseline may be stale:**" in text
    assert "0 were scored in the baseline alone, 2 in this run alone" in text
    other = brief(
        report("now", {OLD: {"x": [True]}}), baseline=report("then", {OLD: {"y": [True]}})
    )
    assert "nothing is compared**: runs then and now have no task in common" in other


def test_headlines_are_compared_in_their_direction():
    values = [0.0] * 10 + [1.0] * 10
    then = by_headlines(report("then", one(OLD, 4)), headline(OLD, [1.0] * 20))
    now = by_headlines(report("now", one(OLD, 4)), headline(OLD, values))
    assert "resisted: worse: 1.000 before, 0.500 now" in brief(now, baseline=then)


def test_an_unfinished_run_is_told_first():
    text = brief(report("now", one(OLD, 4), status="interrupted"))
    assert text.splitlines()[2] == "**This run is interrupted.**"


def test_nobody_is_named_and_nothing_is_fetched_by_what_an_agent_says():
    said = "ask @someone about #12 ![x](http://evil/) <img src=x> | <!-- greenroom -->"
    text = brief(report("now", {f"http://{NEW[7:]}/@team": {"t": [False]}}, warnings=(said,)))
    for unwanted in ("@someone", "@team", "#12", "![x]", "<img", "<!--"):
        assert unwanted not in text
    assert "ask @\u200bsomeone about #\u200b12" in text


def test_long_runs_are_cut_and_say_so():
    many = {f"http://a{n}": {"t": [True]} for n in range(MOST_LISTED + 5)}
    text = brief(report("now", many, warnings=tuple(f"w{n}" for n in range(MOST_LISTED + 3))))
    assert "5 more rows are in the report" in text
    assert "- ... and 3 more, in the report" in text
    huge = brief(report("now", one(OLD, 1), warnings=("x" * 100_000,)))
    assert MOST_CHARS < len(huge) < MOST_CHARS + 100
    assert huge.endswith("... the rest is in the report\n")


def test_a_run_is_no_baseline_of_its_own():
    same = report("now", one(OLD, 4))
    assert "now is one run" in brief(same, baseline=same)
