"""`greenroom score`: trace files in, metrics and judgement out, and what happens to bad ones."""

import gzip
import io
import json
import sys

import pytest

from adk_agent.cli.main import main
from adk_agent.cli.score import as_text
from tau_bridge.a2a.extensions import TRACEABILITY_KEY

STAR = [("lead", "orders", "order 7?"), ("lead", "policy", "days?"), ("lead", "money", "fee?")]
STAR_LABELS = ["bottleneck", "hub", "over_centralized"]


def at(second):
    return f"2026-01-01T00:00:{second:02d}Z"


def step(number, caller, callee, text, **fields):
    return {
        "step_id": str(number),
        "trace_id": "t",
        "call_type": "AGENT",
        "caller": caller,
        "callee": callee,
        "request_text": text,
        "start_time": at(number),
        "end_time": at(number + 1),
        "latency_ms": 1000,
        **fields,
    }


def ours(calls=STAR):
    return {
        "trace_id": "t",
        "steps": [step(number, *call) for number, call in enumerate(calls)],
    }


def by_specification(calls=STAR):
    return {
        "trace_id": "t",
        "steps": [
            {
                "step_id": str(number),
                "trace_id": "t",
                "call_type": "AGENT",
                "step_action": {"agent_invocation": {"agent_name": callee, "requests": text}},
                "additional_attributes": {"caller": caller},
                "start_time": at(number),
                "end_time": at(number + 1),
            }
            for number, (caller, callee, text) in enumerate(calls)
        ],
    }


def flat(calls=STAR):
    return {
        "trace_id": "t",
        "steps": [
            {
                "step_id": str(number),
                "call_type": "AGENT",
                "name": callee,
                "caller": caller,
                "requests": text,
                "latency": 1000,
            }
            for number, (caller, callee, text) in enumerate(calls)
        ],
    }


class Scored:
    """What one call of the command came to."""

    def __init__(self, code, captured):
        self.code = code
        self.out = captured.out
        self.err = captured.err

    @property
    def rows(self):
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def row(self):
        [row] = self.rows
        return row


@pytest.fixture
def score(tmp_path, capsys):
    """Scores a file of the given content: JSON, a text or bytes."""

    def run(content, *flags, as_json=True):
        path = tmp_path / "trace.json"
        if not isinstance(content, str | bytes):
            content = json.dumps(content)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        code = main(["score", str(path), *flags, *(["--json"] if as_json else [])])
        return Scored(code, capsys.readouterr())

    return run


def edges(row):
    return [(edge["caller"], edge["callee"], edge["calls"]) for edge in row["graph"]["edges"]]


@pytest.mark.parametrize("form", [ours, by_specification, flat])
def test_every_form_of_the_same_trace_gives_the_same_graph(score, form):
    scored = score(form())
    assert (scored.code, scored.err) == (0, "")
    row = scored.row
    assert row["labels"] == STAR_LABELS
    assert edges(row) == [("lead", "money", 1), ("lead", "orders", 1), ("lead", "policy", 1)]
    assert row["graph"]["coverage"] == (1.0 if form is ours else 0.0)
    assert row["metrics"]["density"]["value"] == 0.25
    assert row["metrics"]["degree_centralization"]["value"] == 1.0
    assert {"bottleneck", "over_centralized"} <= {found["name"] for found in row["findings"]}


def test_a_line_of_json_has_the_parts_that_are_documented(score):
    row = score(ours()).row
    assert list(row)[:9] == [
        *("id", "trace_id", "status", "reason", "metrics", "labels", "findings", "graph"),
        "thresholds",
    ]
    assert {"judge", "failure_modes", "latency", "versions", "warnings"} <= set(row)
    for name, metric in row["metrics"].items():
        assert {"value", "reason", "status"} <= set(metric), name
        assert (metric["value"] is None) == (metric["reason"] is not None), name
    assert len(row["metrics"]) >= 28
    assert {"nodes", "edges", "coverage"} <= set(row["graph"])


def test_two_runs_print_the_same_byte_for_byte(score):
    lines = "\n".join(json.dumps(form()) for form in (ours, by_specification, flat))
    first, second = score(lines), score(lines)
    assert len(first.rows) == 3
    assert first.out == second.out


def test_a_message_of_a2a_that_carries_a_trace_is_scored(score):
    message = {"messageId": "m", "metadata": {TRACEABILITY_KEY: by_specification()}}
    assert score(message).row["labels"] == STAR_LABELS


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_bad_lines_are_told_in_their_place_and_the_others_are_scored(score, pack):
    lines = [
        json.dumps({"id": "one", "trace": ours()}),
        "{ not json",
        json.dumps({"id": "three", "trace": {"steps": 7}}),
        "",
        json.dumps({"id": "five", "roster": ["lead", "orders", "policy", "money", "idle"]})[:-1]
        + f', "trace": {json.dumps(flat())}}}',
    ]
    scored = score(pack("\n".join(lines).encode()))
    assert scored.code == 2
    one, two, three, five = scored.rows
    assert [one["id"], two["id"], three["id"], five["id"]] == ["one", "line-2", "three", "five"]
    assert one["labels"] == STAR_LABELS
    assert "isolated_member" in five["labels"]
    assert five["graph"]["roster_known"]
    assert set(two) == {"id", "status", "error"}
    assert two["status"] == three["status"] == "failed"
    assert two["error"].startswith("line 2, column 3: not JSON")
    assert three["error"].startswith("line 3: $.trace.steps")
    assert scored.err.splitlines() == [
        f"greenroom: {two['error']}",
        f"greenroom: {three['error']}",
    ]


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_dash_reads_standard_input(capsys, monkeypatch, pack):
    packed = io.BytesIO(pack(json.dumps(ours()).encode()))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(packed))
    code = main(["score", "-", "--json"])
    scored = Scored(code, capsys.readouterr())
    assert scored.code == 0
    assert scored.row["labels"] == STAR_LABELS


@pytest.mark.parametrize(
    "given", [b"", gzip.compress(b"x" * 10_000, mtime=0)[:30]], ids=["nothing", "broken gzip"]
)
def test_what_is_wrong_with_standard_input_is_told_without_a_path(capsys, monkeypatch, given):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given)))
    code = main(["score", "-"])
    complaint = capsys.readouterr().err
    assert code == 2
    assert complaint.startswith("greenroom: standard input is ")
    assert "greenroom-" not in complaint


@pytest.mark.parametrize("named", [False, True])
def test_a_roster_names_members_that_nobody_called(score, tmp_path, named):
    names = ["lead", "orders", "policy", "money", "idle"]
    roster = tmp_path / "roster.json"
    roster.write_text(json.dumps([{"name": name} for name in names] if named else names))
    row = score(ours(), "--roster", str(roster)).row
    assert row["graph"]["nodes"] == sorted(names)
    assert "isolated_member" in row["labels"]
    assert "isolated_member" not in score(ours()).row["labels"]


@pytest.mark.parametrize("content", [None, "{", "7", '["a", 7]', '{"members": "a"}'])
def test_what_is_no_roster_is_exit_2(score, tmp_path, content):
    roster = tmp_path / "roster.json"
    if content is not None:
        roster.write_text(content)
    scored = score(ours(), "--roster", str(roster))
    assert (scored.code, scored.out) == (2, "")
    assert str(roster) in scored.err


def test_metrics_and_evaluators_are_switched_off_by_name(score):
    row = score(ours(), "--without", "density", "--without", "judge,latency").row
    assert "density" not in row["metrics"]
    assert not {"judge", "latency"} & set(row)
    assert row["labels"] == STAR_LABELS


def test_without_the_graph_the_rest_is_scored(score):
    row = score(ours(), "--without", "graph").row
    assert (row["status"], row["metrics"], row["graph"]) == ("scored", {}, {})
    assert row["latency"]["status"] == "scored"
    text = score(ours(), "--without", "graph", as_json=False)
    assert text.code == 0
    assert text.out.startswith("Trace t\n\nEvaluators:\n  judge: ")


def test_switching_off_what_is_not_there_is_exit_2_and_names_the_nearest(score):
    scored = score(ours(), "--without", "densty")
    assert (scored.code, scored.out) == (2, "")
    assert "'densty'" in scored.err
    assert "'density'" in scored.err


@pytest.mark.parametrize(
    ("content", "where"),
    [
        ("", "is empty"),
        ("not json", "line 1, column 1: not JSON"),
        ("[" * 100_000, "nested too deep"),
        ("5", "$: expected a trace"),
        ("{}", "$: expected a trace"),
        ('{"trace": 5}', "$.trace: expected a trace"),
        ('{"steps": 5}', "$.steps"),
        (b"\xff\xfe\x00", "UTF-16"),
        (b'"\xff"', "not UTF-8"),
        ('{"trace_id": "t", "steps": [{"caller": "a", "callee": 5}]}', "$.steps[0].step_id"),
    ],
)
def test_a_file_that_holds_no_trace_is_exit_2_and_says_where(score, content, where):
    scored = score(content)
    assert scored.code == 2
    assert scored.row["status"] == "failed"
    assert where in scored.row["error"]
    assert where in scored.err


def test_a_file_that_is_not_there_is_exit_2(capsys, tmp_path):
    missing = tmp_path / "missing.json"
    assert main(["score", str(missing)]) == 2
    assert f"cannot read '{missing}'" in capsys.readouterr().err


BAD_STEPS = {
    "self-calls": [step(0, "a", "a", "x"), step(1, "a", "b", "y")],
    "an unknown parent": [step(0, "a", "b", "x", parent_step_id="nobody")],
    "a circle of parents": [
        step(0, "a", "b", "x", parent_step_id="1"),
        step(1, "b", "c", "y", parent_step_id="0"),
    ],
    "an end before the beginning": [step(0, "a", "b", "x", start_time=at(9), end_time=at(1))],
    "a negative latency": [step(0, "a", "b", "x", latency_ms=-5)],
    "ids that stand twice": [step(0, "a", "b", "x"), {**step(1, "b", "c", "y"), "step_id": "0"}],
    "a time that is none": [step(0, "a", "b", "x", start_time="yesterday")],
    "an endless number": [step(0, "a", "b", "x", latency_ms=float("inf"))],
}


@pytest.mark.parametrize("name", BAD_STEPS)
def test_what_is_wrong_with_a_step_is_told_and_the_trace_is_scored(score, name):
    scored = score({"trace_id": "t", "steps": BAD_STEPS[name]})
    assert scored.code == 0
    row = scored.row
    assert row["status"] == "scored"
    told = [*row["reading_problems"], *row["problems"]]
    assert told or row["graph"]["self_calls"] == 1
    assert {value["status"] for value in row["metrics"].values()} <= {"scored", "unscored"}


def test_steps_without_times_have_no_metrics_of_time_and_say_so(score):
    bare = [{k: v for k, v in each.items() if "_time" not in k} for each in ours()["steps"]]
    for each in bare:
        del each["latency_ms"]
    row = score({"trace_id": "t", "steps": bare}).row
    assert row["labels"] == STAR_LABELS
    for name in ("critical_path_share", "parallelism", "idle_ratio"):
        assert row["metrics"][name]["value"] is None
        assert row["metrics"][name]["reason"]
    assert row["latency"]["status"] == "unscored"


@pytest.mark.parametrize(
    ("calls", "label"),
    [([], "empty"), ([("a", "a", "x")], "empty"), ([("a", "b", "x"), ("a", "b", "y")], "dyad")],
)
def test_where_there_is_no_team_the_label_says_so_and_metrics_say_why(score, calls, label):
    row = score(ours(calls)).row
    assert label in row["labels"]
    assert row["metrics"]["betweenness"]["value"] is None
    assert row["metrics"]["betweenness"]["reason"].startswith(label)


def test_a_text_of_ten_megabytes_is_no_problem(score):
    row = score(ours([("a", "b", "x" * 10_000_000), ("b", "c", "y")])).row
    assert row["status"] == "scored"
    assert edges(row) == [("a", "b", 1), ("b", "c", 1)]
    assert len(json.dumps(row)) < 100_000


def test_an_expected_answer_is_compared_with_the_one_that_was_given(score):
    line = {"id": "x", "trace": ours(), "answer": "42 EUR", "expected": "42 EUR"}
    row = score(line).row
    assert row["text_similarity"]["status"] == "scored"
    assert set(row["text_similarity"]["values"].values()) == {1.0}


def test_the_text_for_people_has_labels_metrics_findings_and_the_judgement(score):
    scored = score(ours(), as_json=False)
    assert scored.code == 0
    lines = scored.out.splitlines()
    assert lines[0] == "Trace t: 4 agents, 3 calls between agents, 100% of them observed"
    assert lines[1] == "Labels: bottleneck, hub, over_centralized"
    told = {line.split()[0]: " ".join(line.split()[1:]) for line in lines[3:38]}
    assert told["betweenness"] == "1 (lead)"
    assert told["closeness"] == "0.3333 (money and 2 more)"
    assert told["failed_share"] == "0"
    assert told["modularity"].startswith("- (needs at least 6 agents")
    assert any(line.startswith("  lead lies on most of the shortest paths") for line in lines)
    assert any(line.startswith("  judge: overall_score 0.8 (by rules)") for line in lines)
    assert max(map(len, lines)) < 200


@pytest.mark.parametrize(
    ("calls", "reason"),
    [([], "empty: the trace has no step"), ([("a", "b", "x")], "only two agents were visible")],
)
def test_the_text_for_people_says_where_there_is_no_team(score, calls, reason):
    scored = score(ours(calls), as_json=False)
    assert scored.code == 0
    [line] = [line for line in scored.out.splitlines() if line.startswith("Not measured: ")]
    assert reason in line


def test_a_graph_evaluator_that_broke_is_told_of_with_its_reason():
    scored = {
        "trace_id": "t",
        "status": "failed",
        "reason": "took longer than 15 s",
        "graph": {},
        "reading_problems": [],
        "warnings": [],
    }
    assert "Not measured (failed): took longer than 15 s" in as_text(scored)


def spans(*, fails=False):
    """A request of OTLP: a lead that asks two agents, one of which may fail."""
    asked = [("1", "lead", None), ("2", "orders", "1"), ("3", "policy", "1")]
    listed = [
        {
            "traceId": "t",
            "spanId": span_id,
            "parentSpanId": parent or "",
            "name": f"invoke_agent {name}",
            "startTimeUnixNano": str(1_700_000_000_000_000_000 + number),
            "endTimeUnixNano": str(1_700_000_001_000_000_000),
            "attributes": [
                {"key": "gen_ai.operation.name", "value": {"stringValue": "invoke_agent"}},
                {"key": "gen_ai.agent.name", "value": {"stringValue": name}},
            ],
            "status": {"code": 2, "message": "down"} if fails and name == "policy" else {},
        }
        for number, (span_id, name, parent) in enumerate(asked)
    ]
    return {"resourceSpans": [{"scopeSpans": [{"spans": listed}]}]}


def test_spans_are_measured_and_said_to_be_reported(score):
    row = score(spans(fails=True)).row
    assert edges(row) == [("lead", "orders", 1), ("lead", "policy", 1)]
    assert (row["format"], row["graph"]["coverage"]) == ("otlp", 0.0)
    assert {"failed_member", "silent_failure"} <= set(row["labels"])
    assert row["warnings"][0] == (
        "read from OpenTelemetry spans: every step was reported by what wrote it, and Greenroom "
        "observed none"
    )
    shown = score(spans(), as_json=False).out
    assert "2 calls between agents, 0% of them observed" in shown
    assert "Warning: read from OpenTelemetry spans" in shown


def test_what_a_log_of_messages_cannot_tell_is_unscored_with_the_reason(score):
    talk = [{"name": name, "content": "hm"} for name in ("lead", "orders", "lead", "policy")]
    row = score(talk).row
    assert edges(row) == [("lead", "orders", 1), ("lead", "policy", 1), ("orders", "lead", 1)]
    for name in ("failed_share", "silent_failures", "failure_recovery", "retry_share"):
        assert row["metrics"][name]["value"] is None
        assert row["metrics"][name]["reason"].startswith("unknown outcomes:")
    assert row["metrics"]["idle_ratio"]["reason"].startswith("no times:")
    assert row["latency"]["status"] == "unscored"
    assert "ping_pong and reciprocity tell who spoke after whom" in row["warnings"][1]


def test_a_format_that_is_forced_and_is_not_there_is_an_error(score):
    scored = score(ours(), "--format", "messages")
    assert scored.code == 2
    assert "expected messages with 'content'" in scored.err


def test_a_bad_request_among_spans_is_told_and_the_traces_are_scored(score):
    lines = [json.dumps(spans()), '{"resourceSpans": 7}', "{"]
    scored = score("\n".join(lines))
    assert scored.code == 2
    assert [row["status"] for row in scored.rows] == ["failed", "failed", "scored"]
    assert "line 2: $.resourceSpans: must be a list, not 7" in scored.err


def test_spans_of_the_console_exporter_are_named_once(score):
    span = {"name": "chat", "context": {"trace_id": "0x1", "span_id": "0x2"}, "kind": "x"}
    told = score([span, span, span])
    assert told.code == 2
    first, more = told.err.splitlines()
    assert "console exporter" in first
    assert "export OTLP as JSON" in first
    assert more.startswith("greenroom: 2 more: this is a span as OpenTelemetry's console exporter")
