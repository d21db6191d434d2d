"""report.html: a run as one page, whatever the agents wrote and however the run ended."""

import base64
import html
import json
import re
import webbrowser
import zlib
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from typing import get_args

from hypothesis import given
from hypothesis import strategies as st

from adk_agent.cli.main import main
from adk_agent.core.plan import EvaluationPlan, Participant, PlannedTasks
from adk_agent.play.evaluation import evaluate
from adk_agent.present.page import gathered
from adk_agent.present.page.conversations import trial_json
from adk_agent.present.page.latencies import latencies
from adk_agent.present.page.layout import place
from adk_agent.present.page.texts import plain
from adk_agent.present.page.timeline import timeline
from adk_agent.present.page.verdict import ENDS
from adk_agent.present.page.words import CLASSES
from adk_agent.present.page.writing import write_page
from adk_agent.results.markdown import render_markdown
from adk_agent.results.report import EvaluationReport
from adk_agent.results.summary import DataOrigin, DomainReferences, ReferencePlay, TrialRow, tables
from adk_agent.results.team_summary import TeamRow
from adk_agent.runs.store import RunManifest, TrialRecord
from evals.base import Evaluation
from evals.diagnosis import CallDifference, Departure, Diagnosis, FailureKind, ReplyFormat
from evals.trace import ASSESSOR, CALLER_KIND, USER, CallType, InteractionStep, Provenance, Trace
from tau_bridge.benchmarks import Benchmarks, open_benchmarks
from tau_bridge.testing import scripted_agent, serve

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
RUN = "20260102-030405-abcdef"
SECTIONS = ["verdict", "scores", "matrix", "latency", "teams", "trials", "failures", "skipped"]
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\u2028\u202e\x1b[2J\x00"
ORIGIN = DataOrigin(source="greenroom", revision="1")


def row(participant, task_id, trial=0, reward=1.0, **changes):
    fields = {
        "participant": participant,
        "domain": "mock",
        "task_id": task_id,
        "trial": trial,
        "seed": trial,
        "status": "scored",
        "reward": reward,
        "reward_breakdown": {"DB": reward},
        "basis": ("DB",),
        "reason": None,
        "produced_by": "rules",
        "termination": "user_stop",
        "user": "scripted",
        "turns": 1,
        "tool_calls": 0,
        "format_repairs": 0,
        "duration_ms": 100.0,
        "trace_id": "t",
    }
    return TrialRow(**{**fields, **changes})


def step(number, caller, callee, *, begins_ms=0, lasts_ms=10, **changes):
    begin = NOW + timedelta(milliseconds=begins_ms)
    fields = {
        "step_id": f"t.{number}",
        "trace_id": "t",
        "call_type": CallType.AGENT,
        "caller": caller,
        "callee": callee,
        "start_time": begin,
        "end_time": begin + timedelta(milliseconds=lasts_ms),
        "latency_ms": lasts_ms,
    }
    return InteractionStep(**{**fields, **changes})


def record(of, *, messages=(), steps=None, evaluations=(), **changes):
    if steps is None:
        steps = (step(1, ASSESSOR, of.participant),)
    trace = Trace(trace_id="t", steps=tuple(steps))
    fields = {"row": of, "evaluations": tuple(evaluations), "trace": trace}
    return TrialRecord(**fields, messages=tuple(messages), **changes)


def keep_run(folder, records, *, status="complete", trials=1, references=None, with_report=True):
    """Write a run as `greenroom run` leaves it; returns the folder of runs."""
    rows = [each.row for each in records]
    names = list(dict.fromkeys(each.participant for each in rows))
    plan = EvaluationPlan(
        participants=tuple(Participant(address=name) for name in names),
        tasks=(
            PlannedTasks(domain="mock", task_ids=tuple(dict.fromkeys(r.task_id for r in rows))),
        ),
        num_trials=trials,
    )
    manifest = RunManifest(
        run_id=RUN,
        request="Evaluate them",
        plan=plan,
        created_at=NOW,
        versions={"greenroom": "0.1.0"},
        seeds=tuple(range(trials)),
        data={"mock": ORIGIN},
        references=references or {},
    )
    directory = folder / RUN
    directory.mkdir(parents=True)
    (directory / "manifest.json").write_text(manifest.model_dump_json())
    lines = "".join(each.model_dump_json() + "\n" for each in records)
    (directory / "trials.jsonl").write_text(lines)
    state = {"run_id": RUN, "state": status, "request": "", "started_at": NOW.isoformat()}
    (directory / "status.json").write_text(json.dumps({**state, "updated_at": NOW.isoformat()}))
    if with_report:
        report = EvaluationReport(
            run_id=RUN,
            status=status,
            request=manifest.request,
            plan=plan,
            created_at=NOW,
            versions=manifest.versions,
            **tables(rows, plan, manifest.data, manifest.references),
            trials=tuple(rows),
            evaluations=(),
        )
        (directory / "report.json").write_text(report.to_json())
    return folder


INSTALLED = open_benchmarks(lambda _: {})


def page_of(folder):
    return write_page(folder, RUN, benchmarks=INSTALLED).read_text(encoding="utf-8")


def writes(name):
    return name in ("create_task", "update_task_status")


class Seen(HTMLParser):
    """Which elements a page has, and what its addresses are."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.addresses, self.ids, self.handlers = [], [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        for name, value in attrs:
            if name in ("href", "src", "action", "srcset", "data"):
                self.addresses.append(value)
            if name == "id":
                self.ids.append(value)
            if name.startswith("on") or name == "style":
                self.handlers.append(name)


def text_of(page):
    """What a reader sees, on one line."""
    body = re.sub(r"<(style|script)[^>]*>.*?</\1>", "", page, flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]+>", " ", body).split())


def unpacked(page):
    """What the script reads of each trial, by its number."""
    found = re.findall(r'<script type="text/plain" id="data-(\d+)">([^<]*)</script>', page)
    return {int(n): json.loads(zlib.decompress(base64.b64decode(t), -15)) for n, t in found}


async def test_a_run_becomes_one_page_with_the_verdict_first_and_no_address(make_deps, make_plan):
    deps = make_deps()
    with serve(scripted_agent(lambda text, context_id: "I cannot help with that.")) as url:
        plan = make_plan(url, task_ids=("create_task_1", "impossible_task_1"), num_trials=2)
        await evaluate(plan, deps, request="Evaluate it")
    page = write_page(deps.results_dir, "run-1", benchmarks=INSTALLED).read_text(encoding="utf-8")
    seen = Seen(page)
    assert [each for each in seen.ids if each in SECTIONS] == SECTIONS
    assert all(address.startswith("#") for address in seen.addresses)
    assert seen.handlers == []
    assert "default-src 'none'" in page
    assert sorted(unpacked(page)) == [0, 1, 2, 3]
    first = unpacked(page)[0]
    assert first["items"][-1]["text"]
    assert first["timeline"]["lanes"] == [url]
    assert "each is a dyad" in text_of(page)


def test_what_agents_write_is_shown_and_never_obeyed(tmp_path):
    called = {"id": "1", "name": HOSTILE, "arguments": {HOSTILE: HOSTILE}}
    messages = (
        {"role": "user", "content": HOSTILE},
        {"role": "assistant", "tool_calls": [called]},
        {"role": "tool", "id": "1", "content": HOSTILE, "error": False},
    )
    spoiled = row(HOSTILE, HOSTILE, reward=None, status="failed", reason=HOSTILE)
    steps = (step(1, ASSESSOR, HOSTILE), step(2, HOSTILE, "b", error=HOSTILE))
    whole = record(
        spoiled, messages=messages, steps=steps, trace_problems=(HOSTILE,), roster=(HOSTILE, "b")
    )
    page = page_of(keep_run(tmp_path, [whole]))
    seen = Seen(page)
    assert seen.tags.count("script") == 2  # the page's own, and the packed conversation
    assert "img" not in seen.tags
    assert not set(page) & set("\u2028\u202e\x1b\x00")
    assert "&lt;img src=x onerror=alert(2)&gt;" in page
    told = json.dumps(unpacked(page), ensure_ascii=False)
    assert not set(told) & set("\u2028\u202e\x1b\x00")
    assert "<img src=x onerror=alert(2)>" in told


@given(st.text())
def test_plain_text_has_nothing_that_cannot_be_seen(text):
    shown = plain(text)
    assert all(mark.isprintable() or mark in "\n\t" for mark in shown)
    assert plain(shown) == shown


WROTE = ReplyFormat(
    repairs={"plain_text": 2},
    replies=3,
    example="<b>Sure!</b>",
    expected=('{"name": "get_users", "arguments": {}}',),
)
OF_FORM = Diagnosis(kind="format", side="agent", summary="It wrote text.", reply_format=WROTE)


def test_replies_without_a_call_are_shown_beside_what_should_have_been_sent():
    lost = row("http://a.test", "one", reward=0.0, diagnosis=OF_FORM)
    assert trial_json(record(lost), writes)["why"]["form"] == {
        "without": 2,
        "replies": 3,
        "example": "<b>Sure!</b>",
        "expected": ('{"name": "get_users", "arguments": {}}',),
    }


def test_repairs_stand_by_kind_in_page_and_markdown_beside_their_number(tmp_path):
    kinds = {"fenced": 1, "plain_text": 2}
    lost = row(
        "http://a.test",
        "one",
        reward=0.0,
        format_repairs=3,
        repair_kinds=kinds,
        diagnosis=OF_FORM,
    )
    results_dir = keep_run(tmp_path, [record(lost)])
    page = page_of(results_dir)
    assert '<td class="n">3<br><span class="muted">plain_text 2, fenced 1</span></td>' in page
    assert "repaired: plain_text 2, fenced 1" in page
    report = EvaluationReport.model_validate_json((results_dir / RUN / "report.json").read_text())
    assert report.summary[0].repair_kinds == kinds
    text = render_markdown(report)
    assert "- http://a.test in mock: 3 (plain_text 2, fenced 1)" in text
    assert "| user_stop | plain_text 2, fenced 1 | It wrote text. |" in text
    assert "http://a.test sent, for example: `&lt;b>Sure!&lt;/b>`" in text
    assert '- `{"name": "get_users", "arguments": {}}`' in text


def test_a_conversation_tells_calls_results_writes_and_where_it_left_the_gold_path():
    made, due = {"title": "A", "user_id": "u"}, {"title": "B", "user_id": "u"}
    diagnosis = Diagnosis(
        kind="wrong_write",
        side="agent",
        summary="One argument differs.",
        departure=Departure(message=1, call="create_task"),
        calls=(
            CallDifference(
                how="differs",
                name="create_task",
                arguments=made,
                expected=due,
                differing=("title",),
                message=1,
            ),
            CallDifference(how="missing", name="get_users", expected={}),
        ),
    )
    lost = row("http://a.test", "one", reward=0.0, diagnosis=diagnosis)
    messages = (
        {"role": "user", "content": "Please."},
        {"role": "assistant", "tool_calls": [{"id": "", "name": "create_task", "arguments": made}]},
        {"role": "tool", "id": "", "content": "no", "error": True},
        {
            "role": "assistant",
            "content": "Both.",
            "tool_calls": [
                {"id": "", "name": "get_users", "arguments": {"n": 1}},
                {"id": "", "name": "get_users", "arguments": {}},
            ],
        },
        {"role": "tool", "id": "", "content": "first", "error": False},
    )
    told = trial_json(record(lost, messages=messages), writes)
    asked, wrote, said, first, second = told["items"]
    assert asked == {"who": "user", "text": "Please."}
    assert (wrote["writes"], wrote["error"], wrote["result"]) == (True, True, "no")
    assert (wrote["gold"], wrote["departs"]) == ("differs", True)
    assert (wrote["differing"], dict(wrote["expected"])["title"]) == (["title"], "B")
    assert said == {"who": "assistant", "text": "Both."}
    assert (first["result"], first["writes"], second["result"]) == ("first", False, None)
    assert [call["name"] for call in told["missing"]] == ["get_users"]


def test_a_verdict_says_pass_1_its_interval_floor_ceiling_and_what_failed_most(tmp_path):
    tasks = ["a", "b", "c", "d"]
    rewards = dict(zip(tasks, [1.0, 1.0, 0.0, 0.0], strict=True))
    played = [record(row("http://x.test", task, reward=value)) for task, value in rewards.items()]
    marks = DomainReferences(
        floor=ReferencePlay(agent="builtin:null", user="scripted", rewards={**rewards, "a": 0.0}),
        ceiling=ReferencePlay(
            agent="builtin:oracle", user="scripted", rewards=dict.fromkeys(tasks, 1.0)
        ),
    )
    shown = text_of(page_of(keep_run(tmp_path, played, references={"mock": marks})))
    assert "Passes 2 of 4 scored trials, pass^1 0.500 (95 % interval 0." in shown
    assert "not told apart from an agent that does nothing (floor 0.250)" in shown
    assert "0.500 below the ceiling (1.000)" in shown
    assert "the database ended in another state (2 of 2 that did not pass)." in shown


def test_a_participant_without_any_score_is_said_to_have_none(tmp_path):
    failed = row("http://x.test", "a", reward=None, status="failed", reason="it hung up")
    shown = text_of(page_of(keep_run(tmp_path, [record(failed)], status="incomplete")))
    assert "Has no score: of 1 trial, 1 failed, most often because: it hung up." in shown
    assert "The run is incomplete" in shown


def test_an_interrupted_run_shows_what_was_played_and_what_was_not(tmp_path):
    played = [record(row("http://x.test", "a")), record(row("http://x.test", "b", reward=0.0))]
    folder = keep_run(tmp_path, played, status="interrupted", trials=2, with_report=False)
    page = page_of(folder)
    assert page.count('class="cell missing" role="img" aria-label="not played"') == 2
    assert "The run is interrupted: some trials were not played." in text_of(page)
    assert re.search(r"not played</th><td class=\"n\">2</td>", page)


def test_a_report_from_before_there_were_intervals_gets_them(tmp_path):
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
    assert "Passes 3 of 3 scored trials, pass^1 1.000 (95 % interval 0." in shown
    assert "floor and ceiling were not measured" in shown


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


def test_the_same_run_becomes_the_same_page(tmp_path):
    steps = (step(1, ASSESSOR, "lead"), step(2, "lead", "b"), step(3, "lead", "a"))
    played = [record(row("http://x.test", name), steps=steps) for name in "ab"]
    folder = keep_run(tmp_path, played)
    assert page_of(folder) == page_of(folder)


def test_the_graph_tells_observed_and_reported_calls_weak_spots_and_the_assessor_apart(tmp_path):
    told = {"provenance": Provenance.REPORTED}
    steps = (
        step(1, ASSESSOR, "lead"),
        step(2, "lead", "a"),
        step(3, "lead", "b", **told),
        step(4, "lead", "c"),
        step(5, "lead", "c", **told),
    )
    graph = Evaluation(
        evaluator="graph",
        version="1",
        tier=1,
        status="scored",
        details={"findings": [{"name": "bottleneck", "agents": ["lead"], "statement": "x"}]},
    )
    judge = Evaluation(evaluator="judge", version="1", tier=2, status="unscored", reason="no key")
    whole = record(
        row("http://x.test", "a"), steps=steps, evaluations=(graph, judge), roster=("lead", "idle")
    )
    page = page_of(keep_run(tmp_path, [whole]))
    for kind, times in (("observed", 2), ("reported", 1), ("both", 1)):
        assert page.count(f'<path class="edge {kind}"') == times
    shown = text_of(page)
    assert "5 agents, 4 calls between them in 1 trial, 2 of them reported and not seen" in shown
    assert "weak spots: lead (bottleneck in 1 of 1 trial)" in shown
    assert page.count('class="node idle"') == 1
    assert page.count('<rect class="node assessor" x="') == 2  # one of them in the legend
    assert "judge: unscored 1 no key" in shown


def test_a_team_called_by_its_address_is_drawn_with_the_member_that_answers_there(tmp_path):
    outside = {"additional_attributes": {CALLER_KIND: USER}}
    steps = (
        step(1, ASSESSOR, "http://x.test", **outside),
        step(2, "lead", "a", parent_step_id="t.1"),
    )
    whole = record(row("http://x.test", "one"), steps=steps, roster=("a", "lead"))
    page = page_of(keep_run(tmp_path, [whole]))
    assert "<title>green-agent to lead: 1 call</title>" in page
    assert "2 agents, 1 call between them" in text_of(page)


def test_a_tree_is_drawn_in_layers_and_a_mesh_in_a_ring():
    tree = place(["r", "a", "b"], [("r", "a"), ("r", "b")], "r")
    assert tree["r"][1] < tree["a"][1] == tree["b"][1]
    assert tree["a"][0] + tree["b"][0] == 2 * tree["r"][0]
    mesh = place("abc", [(x, y) for x in "abc" for y in "abc" if x != y], None)
    assert len({y for _, y in mesh.values()}) > 1
    assert len(set(mesh.values())) == 3


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from("abcdef"))), st.randoms())
def test_a_layout_places_every_agent_once_and_does_not_depend_on_the_order_of_calls(edges, random):
    mixed = [*edges]
    random.shuffle(mixed)
    placed = place("abcdef", edges, None)
    assert placed == place("abcdef", mixed, None)
    assert len(set(placed.values())) == 6


def test_a_histogram_counts_every_reply_on_one_axis_for_all():
    found = latencies(["a", "b", "c"], {"a": [10.0] * 9 + [1000.0], "b": [100.0]}, {"a": 2})
    a, b = found.rows
    assert (a.replies, a.failed, a.figures["p50"], a.figures["max"]) == (10, 2, "10 ms", "1.0 s")
    assert [bar.height for bar in a.bars] == [100.0, 11.11]
    middle = b.marks[0].x
    assert a.bars[0].x < middle < a.bars[1].x
    assert {tick.label for tick in found.ticks} >= {"10 ms", "100 ms"}


def test_a_timeline_keeps_the_clocks_of_participants_within_what_was_seen():
    seen = step(1, ASSESSOR, "a", lasts_ms=50)
    ahead = step(2, "a", "b", begins_ms=9_999_999, provenance=Provenance.REPORTED)
    untimed = step(3, "a", "c", start_time=None, provenance=Provenance.REPORTED)
    found = timeline(Trace(trace_id="t", steps=(seen, ahead, untimed)))
    assert found["lanes"] == ["a", "b"]
    assert [(each["at"], each["to"]) for each in found["steps"]] == [(0.0, 50.0), (50.0, 50.0)]
    assert found["untimed"] == 1


def test_every_class_component_and_status_has_a_name():
    assert set(get_args(FailureKind)) < set(CLASSES)
    domains = [INSTALLED.domain(name) for name in INSTALLED.domains]
    assert {each.name: set(each.meanings) for each in domains} == {
        each.name: set(each.components) for each in domains
    }
    status = EvaluationReport.model_fields["status"].annotation
    assert set(get_args(status)) == set(ENDS)


def test_a_run_of_a_benchmark_that_is_not_installed_still_becomes_a_page(tmp_path):
    called = {"id": "1", "name": "create_task", "arguments": {}}
    said = ({"role": "assistant", "tool_calls": [called]},)
    folder = keep_run(tmp_path, [record(row("http://x.test", "a", reward=0.0), messages=said)])
    there = page_of(folder)
    page = write_page(folder, RUN, benchmarks=Benchmarks([])).read_text(encoding="utf-8")
    assert "what went wrong most: the database ended in another state (1 of 1" in text_of(there)
    assert "what went wrong most: DB (1 of 1" in text_of(page)
    assert unpacked(there)[0]["items"][0]["writes"] is True
    assert unpacked(page)[0]["items"][0]["writes"] is False


def test_a_page_is_written_where_the_data_of_a_benchmark_are_gone(tmp_path, monkeypatch, capsys):
    folder = keep_run(tmp_path, [record(row("http://x.test", "a"))])
    monkeypatch.setenv("TAU2_DATA_DIR", str(tmp_path / "gone"))
    assert main(["view", RUN, "--results-dir", str(folder), "--no-open"]) == 0
    captured = capsys.readouterr()
    assert captured.out == f"page: {folder / RUN / 'report.html'}\n"
    assert "the page marks no call that changes data" in captured.err


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


def test_a_run_that_a_rule_stopped_is_not_called_played_to_its_end(tmp_path):
    folder = keep_run(tmp_path, [record(row("http://x.test", "a"))], trials=2)
    path = folder / RUN / "report.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "stopped_by": "trials >= 1"}))
    text = html.unescape(text_of(page_of(folder)))
    assert "Every trial of the run was played" not in text
    assert "by the rule 'trials >= 1': 1 of 2 trials were played, and none of them failed" in text
    assert "the rule 'trials >= 1' ended the run" in text
    assert "the run is complete" not in text


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


def test_a_team_s_judgement_stands_with_the_rules_score_and_its_flags(tmp_path):
    steps = (step(1, ASSESSOR, "lead"), step(2, "lead", "a"), step(3, "lead", "b"))
    runs = keep_run(tmp_path, [record(row("http://x.test", "a"), steps=steps)])
    path = runs / RUN / "report.json"
    team = TeamRow(
        participant="http://x.test",
        domain="mock",
        measured=1,
        not_measured={},
        labels={},
        findings=(),
        agents=3,
        calls=2,
        coverage=1.0,
        contradictions=0,
        judged=1.0,
        judged_by=("llm:m",),
        judged_by_rules=0.5,
        flagged=1,
        flags={"differs_from_rules": 1},
        flag_example="The model gives <b>1</b>.",
        consistency={},
    )
    report = EvaluationReport.from_json(path.read_text()).model_copy(update={"teams": (team,)})
    path.write_text(report.to_json())
    page = page_of(runs)
    assert "Judged 1.000 by llm:m, 0.500 by rules. 1 judgement is flagged" in text_of(page)
    assert "1 judgement is flagged (differs from rules). The model gives" in text_of(page)
    assert "<b>1</b>" not in page
    markdown = render_markdown(report)
    assert "1.000 llm:m, rules 0.500, flagged 1 x" in markdown
    assert "http://x.test: 1 judgement is flagged" in markdown.replace("\\", "")
