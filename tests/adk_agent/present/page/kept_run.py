"""Runs on disk of which tests make pages, and how tests read a page."""

import base64
import json
import re
import zlib
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser

from adk_agent.core.plan import EvaluationPlan, Participant, PlannedTasks
from adk_agent.present.page.writing import write_page
from adk_agent.results.report import EvaluationReport
from adk_agent.results.summary import DataOrigin, TrialRow, tables
from adk_agent.results.users import user_rows
from adk_agent.runs.store import RunManifest, TrialRecord
from evals.diagnosis import Diagnosis, ReplyFormat
from evals.trace import ASSESSOR, CallType, InteractionStep, Trace
from tau_bridge.benchmarks import open_benchmarks

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
RUN = "20260102-030405-abcdef"
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
            users=user_rows(plan, rows, {}),
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


WROTE = ReplyFormat(
    repairs={"plain_text": 2},
    replies=3,
    example="<b>Sure!</b>",
    expected=('{"name": "get_users", "arguments": {}}',),
)
OF_FORM = Diagnosis(kind="format", side="agent", summary="It wrote text.", reply_format=WROTE)
