"""JUnit XML: what continuous integration shows of tests, with a test case for each trial."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from adk_agent.core.escaping import escape_controls
from adk_agent.core.spending import ender
from adk_agent.present.exports.output import Export, Output
from adk_agent.present.exports.played import Part, PlayedRun
from adk_agent.results.summary import TrialKey, TrialRow
from adk_agent.runs.jobs import TrialJob, jobs_of
from evals.diagnosis import Diagnosis

FILE = "junit.xml"
_INTERRUPTED = "not played: the run was interrupted before"


def to_junit(run: PlayedRun) -> Export:
    """Export a suite for each participant and domain of the plan.

    A trial that did not pass is a failure with its diagnosis, one that broke an error with the
    side at fault, one without a score skipped, as is one that was not played.
    """
    return Export(outputs=(Output(name=FILE, chunks=_document(run)),))


def _document(run: PlayedRun) -> Iterator[str]:
    rows: dict[TrialKey, TrialRow] = {row.key: row for row in run.report.trials}
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    suites = Element("testsuites", name=escape_controls(f"greenroom {run.report.run_id}"))
    yield tostring(suites, encoding="unicode").removesuffix(" />") + ">\n"
    jobs = list(jobs_of(run.report.plan))
    for participant in run.report.plan.participants:
        for planned in run.report.plan.tasks:
            part = participant, planned.domain
            mine = [job for job in jobs if (job.participant, job.domain) == part]
            suite = _suite(run, part, [(job, rows.get(job.key)) for job in mine])
            indent(suite, level=1)
            yield f"  {tostring(suite, encoding='unicode').rstrip()}\n"
    yield "</testsuites>\n"


def _suite(
    run: PlayedRun, part: Part, trials: Sequence[tuple[TrialJob, TrialRow | None]]
) -> Element:
    participant, domain = part
    rule = run.report.stopped_by
    unplayed = _INTERRUPTED if rule is None else f"not played: {ender(rule)} ended the run"
    cases = [_case(job, row, unplayed) for job, row in trials]
    found = [row for _, row in trials if row is not None]
    suite = Element(
        "testsuite",
        name=escape_controls(f"{participant.address} {domain}"),
        tests=str(len(cases)),
        failures=str(sum(case.find("failure") is not None for case in cases)),
        errors=str(sum(case.find("error") is not None for case in cases)),
        skipped=str(sum(case.find("skipped") is not None for case in cases)),
        time=_seconds(sum(row.duration_ms for row in found)),
        timestamp=run.report.created_at.replace(microsecond=0, tzinfo=None).isoformat(),
    )
    data = run.manifest.data[domain]
    about = {"data_source": data.source, "data_revision": data.revision, **run.report.versions}
    properties = SubElement(suite, "properties")
    for name, value in sorted(about.items()):
        SubElement(properties, "property", name=escape_controls(name), value=escape_controls(value))
    suite.extend(cases)
    return suite


def _case(job: TrialJob, row: TrialRow | None, unplayed: str) -> Element:
    case = Element(
        "testcase",
        classname=escape_controls(f"{job.participant.address}.{job.domain}"),
        name=escape_controls(f"{job.task_id} trial {job.trial}"),
        time=_seconds(row.duration_ms if row is not None else 0.0),
    )
    if row is None:
        SubElement(case, "skipped", message=escape_controls(unplayed))
    elif row.status == "unscored":
        SubElement(case, "skipped", message=escape_controls(row.reason or "unscored"))
    elif row.status == "failed":
        reason = escape_controls(row.reason or "failed")
        SubElement(case, "error", type=row.fault or "unknown", message=reason)
    elif not row.passed:
        kind, message, details = _why(row)
        failure = SubElement(case, "failure", type=kind, message=escape_controls(message))
        failure.text = escape_controls(details)
    return case


def _why(row: TrialRow) -> tuple[str, str, str]:
    """Return a failure's type, its message, and all that is known about it."""
    shares = ", ".join(
        f"{name} {'unscored' if value is None else f'{value:g}'}"
        for name, value in row.reward_breakdown.items()
        if name in row.basis
    )
    reward = f"reward {row.reward:g}" + (f" of {shares}" if shares else "")
    facts = [reward, f"ended by {row.termination}", f"seed {row.seed}", f"trace {row.trace_id}"]
    if row.diagnosis is None:
        return "not_passed", f"not passed: {reward}", "\n".join(facts)
    return row.diagnosis.kind, row.diagnosis.summary, "\n".join([*_evidence(row.diagnosis), *facts])


def _evidence(why: Diagnosis) -> list[str]:
    lines = [why.summary, f"on the side of: {why.side}"]
    if why.departure is not None:
        lines.append(f"left the gold path at message {why.departure.message}: {why.departure.call}")
    for call in why.calls:
        differing = f" in {', '.join(call.differing)}" if call.differing else ""
        lines.append(f"{call.how}: {call.name}{differing}")
    lines += [f"not communicated: {text}" for text in why.not_communicated]
    if why.reply_format is not None:
        lines.append(f"sent, for example: {why.reply_format.example}")
        lines += [f"should send: {text}" for text in why.reply_format.expected]
    return [*lines, *why.findings]


def _seconds(milliseconds: float) -> str:
    return f"{milliseconds / 1000:.3f}"
