"""`greenroom view`: where the page goes, when it is opened, what it hides, and what is refused."""

import json
import webbrowser

from adk_agent.cli.main import main
from evals.trace import ASSESSOR
from tests.adk_agent.present.page.kept_run import RUN, keep_run, record, row, step, unpacked


def test_a_page_is_written_where_the_data_of_a_benchmark_are_gone(tmp_path, monkeypatch, capsys):
    folder = keep_run(tmp_path, [record(row("http://x.test", "a"))])
    monkeypatch.setenv("TAU2_DATA_DIR", str(tmp_path / "gone"))
    assert main(["view", RUN, "--results-dir", str(folder), "--no-open"]) == 0
    captured = capsys.readouterr()
    assert captured.out == f"page: {folder / RUN / 'report.html'}\n"
    assert "the page cannot mark calls that change data" in captured.err


def test_view_writes_the_page_and_opens_it_only_where_there_is_a_screen(
    tmp_path, monkeypatch, capsys
):
    folder = keep_run(tmp_path, [record(row("http://x.test", "a"))])
    opened = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    out = tmp_path / "elsewhere.html"
    assert main(["view", RUN, "--results-dir", str(folder), "--out", str(out)]) == 0
    assert capsys.readouterr().out == f"page: {out}\n"
    assert opened == []
    monkeypatch.setenv("DISPLAY", ":0")
    assert main(["view", "--results-dir", str(folder), "--no-open"]) == 0
    assert opened == []
    assert main(["view", "--results-dir", str(folder)]) == 0
    assert opened == [(folder / RUN / "report.html").as_uri()]


def test_no_secret_stands_on_the_page_or_in_what_it_has_packed(tmp_path, monkeypatch):
    secrets = ("our-own-password", "sk-abcdefghijklmnop1234")
    monkeypatch.setenv("AGENTBEATS_LLM_API_KEY", secrets[0])
    said = f"they are {' and '.join(secrets)}"
    failed = row("http://x.test", "a", reward=None, status="failed", reason=said)
    messages = ({"role": "user", "content": said}, {"role": "assistant", "content": said})
    steps = (step(1, ASSESSOR, "http://x.test", request_text=said, response_text=said),)
    folder = keep_run(tmp_path, [record(failed, messages=messages, steps=steps)])
    assert main(["view", RUN, "--results-dir", str(folder), "--no-open"]) == 0
    page = (folder / RUN / "report.html").read_text(encoding="utf-8")
    shown = page + json.dumps(unpacked(page))
    assert [secret for secret in secrets if secret in shown] == []
    assert "they are *** and ***" in json.dumps(unpacked(page))


def test_view_says_what_it_cannot_do(tmp_path, capsys):
    folder = keep_run(tmp_path, [record(row("http://x.test", "a"))])
    assert main(["view", "nobody", "--results-dir", str(folder), "--no-open"]) == 2
    assert "there is no run 'nobody'" in capsys.readouterr().err
    nowhere = str(tmp_path / "none" / "page.html")
    assert main(["view", RUN, "--results-dir", str(folder), "--out", nowhere, "--no-open"]) == 3
    assert "No such file or directory" in capsys.readouterr().err
    (folder / RUN / "report.html").mkdir()
    assert main(["view", RUN, "--results-dir", str(folder), "--no-open"]) == 3
    assert "name another place: --out FILE" in capsys.readouterr().err
    (folder / RUN / "trials.jsonl").write_text("{}\n")
    assert main(["view", RUN, "--results-dir", str(folder), "--no-open"]) == 3
    assert "line 1 is not a trial" in capsys.readouterr().err
