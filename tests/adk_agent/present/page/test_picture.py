"""The picture of the scores."""

import html
import re

from adk_agent.present.page.picture import MOST_ROWS, score_picture
from adk_agent.runs.results import results_so_far
from tests.adk_agent.present.page.kept_run import RUN, keep_run, record, row

TEXT, MARK = (
    re.compile(r"<text[^>]*>([^<]*)</text>"),
    re.compile(r'<circle class="dot" cx="([^"]*)"'),
)


def picture_of(folder):
    return score_picture(results_so_far(folder, RUN)[1])


def test_every_score_has_its_name_its_mark_and_its_value(tmp_path):
    rows = [row("http://a.test", "one"), row("http://b.test", "one", reward=0.0)]
    picture = picture_of(keep_run(tmp_path, map(record, rows)))
    shown = TEXT.findall(picture)
    assert {"http://a.test", "http://b.test", "pass^1 1.000", "pass^1 0.000"} <= set(shown)
    assert MARK.findall(picture)[:2] == ["596.0", "236.0"]


def test_markup_in_an_agents_address_is_text(tmp_path):
    address = "http://a.test/<script>"
    picture = picture_of(keep_run(tmp_path, [record(row(address, "one"))]))
    assert "<script>" not in picture
    assert html.escape(address) in TEXT.findall(picture)


def test_a_run_without_scores_has_no_picture(tmp_path):
    folder = keep_run(
        tmp_path, [record(row("http://a.test", "one", status="unscored", reward=None))]
    )
    assert picture_of(folder) is None


def test_more_scores_than_fit_are_counted(tmp_path):
    rows = [row(f"http://a.test/{number}", "one") for number in range(MOST_ROWS + 3)]
    picture = picture_of(keep_run(tmp_path, map(record, rows)))
    assert "3 more in the report" in picture
