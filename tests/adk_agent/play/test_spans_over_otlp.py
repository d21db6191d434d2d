"""Agents whose spans come over OTLP while they are evaluated."""

import contextlib
import json
import os
import re
import socket
import sys
from pathlib import Path

import anyio
import httpx
import pytest

from adk_agent.assembly import Assembly
from adk_agent.core.errors import PreflightError
from adk_agent.core.settings import Settings
from adk_agent.play.evaluation import evaluate
from adk_agent.play.span_reception import SpanReception
from adk_agent.runs.store import load_trials
from evals.trace import CallType, Provenance
from tests.fakes import scripted_agent, serve

AGENT = Path(__file__).with_name("instrumented_agent.py")
CREATE = {
    "name": "create_task",
    "arguments": {"user_id": "user_1", "title": "Important Meeting"},
}
DONE = {"name": "respond", "arguments": {"content": "Done. Is there anything else?"}}
START = 1_700_000_000_000_000_000


def creates_the_task(text, context_id=None):
    return json.dumps(DONE if text.startswith("{") else CREATE)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def span(header, span_id, name, parent=None):
    """A span of an agent, in the trace of this `traceparent`."""
    _, trace_id, ours, _ = header.split("-")
    attributes = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name}
    return {
        "traceId": trace_id,
        "spanId": span_id * 16,
        "parentSpanId": ours if parent is None else parent * 16,
        "name": name,
        "startTimeUnixNano": str(START),
        "endTimeUnixNano": str(START + 5_000),
        "attributes": [{"key": k, "value": {"stringValue": v}} for k, v in attributes.items()],
    }


async def export(port, *spans):
    body = {"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}
    async with httpx.AsyncClient(trust_env=False) as http:
        answer = await http.post(f"http://127.0.0.1:{port}/v1/traces", json=body)
    assert answer.status_code == 200
    return answer.json()


class Exporter:
    """Exports spans once the trial has ended, as a batch processor does: in place of waiting."""

    def __init__(self, port, spans_of):
        self.port, self.spans_of, self.headers, self.answers = port, spans_of, [], []

    async def __call__(self, seconds):
        self.answers.append(await export(self.port, *self.spans_of(self.headers)))


@contextlib.contextmanager
def heard(exporter):
    """An agent that creates the task, of whose requests the `traceparent` is kept."""

    def wrapped(app):
        async def call(scope, receive, send):
            found = dict(scope.get("headers", ())).get(b"traceparent")
            if found is not None:
                exporter.headers.append(found.decode())
            await app(scope, receive, send)

        return call

    with serve(wrapped(scripted_agent(creates_the_task))) as url:
        yield url


def team(headers):
    first = headers[0]
    return [span(first, "1", "lead"), span(first, "2", "planner", "1"), span(first, "2", "planner")]


async def played(make_deps, make_plan, spans_of, **plan):
    exporter = Exporter(free_port(), spans_of)
    reception = SpanReception(exporter.port, grace_s=6, sleep=exporter)
    deps = make_deps(receive_spans=reception.run)
    with heard(exporter) as url:
        report = await evaluate(make_plan(url, **plan), deps, request="")
    return report, load_trials(deps.results_dir, "run-1"), exporter


def reported(record):
    return [
        step.callee
        for step in record.trace.of_type(CallType.AGENT)
        if step.provenance is Provenance.REPORTED
    ]


async def test_spans_that_come_within_the_grace_period_join_the_trace(make_deps, make_plan):
    report, [record], exporter = await played(make_deps, make_plan, team)
    assert (record.row.reward, reported(record)) == (1.0, ["planner"])
    assert exporter.answers == [{}]
    assert not [warning for warning in report.warnings if "OTLP" in warning]


async def test_spans_of_trials_at_once_go_to_the_trial_that_they_belong_to(make_deps, make_plan):
    def each(headers):
        traces = {header.split("-")[1]: header for header in headers}
        return [
            made
            for header in traces.values()
            for made in (span(header, "1", "lead"), span(header, "2", "planner", "1"))
        ]

    _, records, _ = await played(make_deps, make_plan, each, num_trials=3, max_concurrency=3)
    assert [reported(record) for record in records] == [["planner"]] * 3


async def test_spans_that_are_late_or_of_nobody_are_told_by_the_report(make_deps, make_plan):
    strange = "00-" + "ab" * 16 + "-" + "cd" * 8 + "-01"

    def before_and_now(headers):
        traces = list(dict.fromkeys(header.split("-")[1] for header in headers))
        late = [
            span(header, "3", "late") for header in headers if header.split("-")[1] == traces[0]
        ]
        return [*(late[:1] if len(traces) > 1 else ()), span(strange, "1", "stranger")]

    report, records, exporter = await played(
        make_deps, make_plan, before_and_now, num_trials=2, max_concurrency=1
    )
    [told] = [warning for warning in report.warnings if "OTLP" in warning]
    assert re.match(
        r"spans received over OTLP and not used: \d+ belonged to no trial, 1 came after their trial; "
        "spans of trials came, but all of them too late",
        told,
    )
    assert [reported(record) for record in records] == [[], []]
    assert exporter.answers[-1]["partialSuccess"]["rejectedSpans"] == "2"


async def test_hostile_spans_change_no_reward(make_deps, make_plan):
    def hostile(headers):
        good = span(headers[0], "1", "lead")
        own = {**good, "spanId": good["parentSpanId"], "parentSpanId": None}
        circle = [span(headers[0], "3", "a", "4"), span(headers[0], "4", "b", "3")]
        odd = [
            {**good, "spanId": digit * 16, **change}
            for digit, change in (
                ("5", {"attributes": 7}),
                ("6", {"startTimeUnixNano": "soon", "endTimeUnixNano": -1}),
                ("7", {"name": "\x1b[2J", "status": "bad"}),
                ("8", {"events": [[]]}),
            )
        ]
        return [own, *circle, *odd]

    _, [record], _ = await played(make_deps, make_plan, hostile)
    assert (record.row.status, record.row.reward) == ("scored", 1.0)
    assert "spans over OTLP: 1 x span with the id of one of our own: left out" in (
        record.trace_problems
    )


async def test_a_port_that_is_taken_ends_a_run_before_it_begins(make_deps, make_plan):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        deps = make_deps(receive_spans=SpanReception(port, grace_s=0).run)
        with pytest.raises(PreflightError, match=f"127.0.0.1:{port}: Address already in use"):
            await evaluate(make_plan("builtin:null"), deps, request="")
    assert not deps.results_dir.joinpath("run-1", "trials.jsonl").exists()


async def test_runs_at_once_share_the_port_and_free_it_at_the_end():
    reception = SpanReception(free_port(), grace_s=0)
    async with reception.run() as one, reception.run() as other:
        assert one.inbox is other.inbox
    async with reception.run() as again:
        assert again.inbox is not one.inbox


def test_workers_on_ray_receive_no_spans_and_say_so():
    settings = Settings.load(otlp_port=4318)
    with pytest.raises(PreflightError, match="leave --otlp-port out"):
        Assembly(settings=settings, executor="ray").evaluation_deps()


@pytest.mark.slow
@pytest.mark.requirement("use:otlp")
async def test_an_agent_that_is_instrumented_shows_its_team_without_a_change(make_deps, make_plan):
    port, agent_port = free_port(), free_port()
    environment = {
        **os.environ,
        "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{port}",
        "OTEL_BSP_SCHEDULE_DELAY": "100",
    }
    url = f"http://127.0.0.1:{agent_port}"
    deps = make_deps(receive_spans=SpanReception(port, grace_s=1.5).run)
    command = [sys.executable, str(AGENT), str(agent_port)]
    async with await anyio.open_process(
        command, env=environment, stdout=None, stderr=None
    ) as agent:
        try:
            with anyio.fail_after(30):
                await answering(url)
            plan = make_plan(url, domain="coordination", task_ids=("ex01_return_with_fee",))
            await evaluate(plan, deps, request="")
        finally:
            agent.terminate()
    [record] = load_trials(deps.results_dir, "run-1")
    inner = [
        (s.caller, s.callee) for s in record.trace.steps if s.provenance is Provenance.REPORTED
    ]
    assert inner == [("lead", "orders"), ("orders", "find_order"), ("lead", "policy")]
    [ours] = [s for s in record.trace.steps if s.provenance is Provenance.OBSERVED]
    assert (ours.callee, record.row.status) == (url, "scored")


async def answering(url):
    """Return once an agent answers."""
    async with httpx.AsyncClient(trust_env=False) as http:
        while True:
            with contextlib.suppress(httpx.TransportError):
                await http.get(f"{url}/.well-known/agent-card.json")
                return
            await anyio.sleep(0.1)
