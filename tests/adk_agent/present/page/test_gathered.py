"""What the page reads of the conversations, and what it leaves out."""

from adk_agent.present.page import gathered
from tests.adk_agent.present.page.kept_run import (
    RUN,
    keep_run,
    page_of,
    record,
    row,
    text_of,
    unpacked,
    writes,
)


def test_a_run_whose_conversations_are_gone_still_has_its_page(tmp_path):
    folder = keep_run(tmp_path, [record(row("http://x.test", "a"))])
    (folder / RUN / "trials.jsonl").unlink()
    page = page_of(folder)
    assert unpacked(page) == {}
    assert "Of 1 trial no conversation was kept beside the report." in text_of(page)
    assert "No trace was kept beside the report." in text_of(page)


def test_where_room_is_scarce_the_trials_that_did_not_pass_are_kept(tmp_path, monkeypatch):
    played = [record(row("http://x.test", "a")), record(row("http://x.test", "b", reward=0.0))]
    sizes = [len(gathered.packed(each, writes)) for each in played]
    monkeypatch.setattr(gathered, "MOST_PACKED_CHARS", max(sizes))
    page = page_of(keep_run(tmp_path, played))
    assert list(unpacked(page)) == [1]
    assert "1 conversation had no room in this page" in text_of(page)
