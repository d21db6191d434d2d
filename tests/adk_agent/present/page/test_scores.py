"""The rows of the tables, of old reports too."""

import json

from tests.adk_agent.present.page.kept_run import RUN, keep_run, page_of, record, row, text_of


def test_a_report_from_before_there_were_intervals_has_a_page(tmp_path):
    folder = keep_run(tmp_path, [record(row("http://x.test", name)) for name in "abc"])
    path = folder / RUN / "report.json"
    old = json.loads(path.read_text())
    new_keys = ("intervals", "floor", "ceiling", "above_floor", "consistency", "user_faults")
    for each in old["summary"]:
        for key in new_keys:
            del each[key]
    del old["tasks"], old["overall"]
    path.write_text(json.dumps(old))
    shown = text_of(page_of(folder))
    assert "Passed 3 of 3 scored trials." in shown
    assert "Floor and ceiling were not measured" in shown
