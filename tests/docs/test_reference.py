"""The tables of the documentation against the code: the same names on both sides."""

import asyncio
import pkgutil
import re
from dataclasses import asdict, fields
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import get_args

import pytest
from a2a.utils.errors import JSON_RPC_ERROR_CODE_MAP
from ground_truth import Label

import greenroom
from adk_agent.cli.main import build_parser
from adk_agent.core.plan import EvaluationPlan, Participant, PlannedTasks
from adk_agent.core.settings import variables
from adk_agent.play.evaluators import trace_evaluators
from adk_agent.play.scoring import score_entry
from adk_agent.play.trace_merging import MAX_REPORTED_STEPS
from adk_agent.requests import agentbeats
from adk_agent.requests.by_rules import read_intent
from adk_agent.requests.find_tasks import TaskSearch
from adk_agent.requests.intent import Intent, Situation
from adk_agent.requests.language.vocabulary import Vocabulary
from adk_agent.requests.refusal import RefusalCode
from adk_agent.results.agent_usage import AgentUsage, TrialUsage
from adk_agent.results.comparison import AgentComparison, RunComparison
from adk_agent.results.headlines import HeadlineRow
from adk_agent.results.leaderboard import leaderboard_row
from adk_agent.results.pairs import AgentPair
from adk_agent.results.progress import Progress
from adk_agent.results.report import EvaluationReport, TrialEvaluations
from adk_agent.results.summary import (
    DataOrigin,
    ReferenceScore,
    SummaryRow,
    TaskRow,
    TrialRow,
    tables,
)
from adk_agent.results.team_summary import FindingCount, TeamRow
from adk_agent.runs.store import TrialRecord
from adk_agent.runs.tracking import RunState
from adk_agent.service.conversation.parsing import MAX_CHARS
from adk_agent.service.conversation.traces import MAX_STEPS
from adk_agent.service.jobs import MAX_RUNNING
from adk_agent.service.limits import RequestLimits
from adk_agent.service.receivers import MAX_CONFIGS_PER_TASK
from adk_agent.service.stores import BYTES_IN_MEMORY, KEPT_IN_MEMORY
from adk_agent.service.sweep import KEPT_DAYS
from evals.base import Evaluation, EvaluationContext, Tier
from evals.diagnosis import ReplyFormat
from evals.graph.findings import Thresholds
from evals.graph.rewiring import MANY_AGENTS, MAX_AGENTS, SAMPLES, SAMPLES_OF_MANY
from evals.judge.detection import DETECTORS
from evals.judge.judgment import Quality
from evals.judge.modes import FAILURE_MODES
from evals.judge.rules import DEDUCTIONS, QUALITIES
from evals.statistics import Comparison
from evals.trace import InteractionStep, Trace
from purple_agent.teams.plan import FaultKind
from tau_bridge.a2a.limits import MessengerLimits
from tau_bridge.a2a.proxy import ProxyLimits
from tau_bridge.a2a.traceability import FILE_LIMITS, ReportLimits
from tau_bridge.benchmarks import open_benchmarks
from tau_bridge.exercises import questions
from tau_bridge.tau2.loop import Termination
from tau_bridge.teams import teams
from tau_bridge.trace_file import TraceEntry
from tau_bridge.wire import ParsedReply
from tests.fakes.planting import Pathology

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


def rows_of(page, heading):
    """The rows of the page's table with this first header, each a list of cells without marks."""
    text = (DOCS / page).read_text()
    (table,) = re.findall(rf"^\| {re.escape(heading)} \|.*\n((?:^\|.*\n)+)", text, re.MULTILINE)
    rows = [line.strip().strip("|").split("|") for line in table.splitlines()[1:]]
    return [[re.sub(r"^`([^`]*)`$", r"\1", cell.strip()) for cell in row] for row in rows]


def tables_of(page):
    """Each table as its header's first cell and the names in its first column."""
    text = re.sub(r"^```.*?^```$", "", (DOCS / page).read_text(), flags=re.MULTILINE | re.DOTALL)
    for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in table.splitlines()]
        yield rows[0][0], [found for row in rows[2:] for found in re.findall(r"`([^`]+)`", row[0])]


def names(page, heading, number=0):
    """The names in the first column of a page's table, by its header's first cell."""
    found = [column for header, column in tables_of(page) if header == heading]
    assert len(found[number]) == len(set(found[number])), found[number]
    return set(found[number])


def options_of(command):
    """The long options of a command with what they take."""
    (commands,) = [action for action in build_parser()._actions if action.choices]
    return {
        f"{action.option_strings[-1]} {action.metavar or action.dest.upper()}"
        if action.nargs != 0
        else action.option_strings[-1]
        for action in commands.choices[command].loaded()._actions
        if action.option_strings and action.dest != "help"
    }


def report_of_one_scored_trial():
    plan = EvaluationPlan(
        participants=(Participant(address="builtin:null"),),
        tasks=(PlannedTasks(domain="mock", task_ids=("create_task_1",)),),
    )
    trial = TrialRow(
        participant="builtin:null",
        domain="mock",
        task_id="create_task_1",
        trial=0,
        seed=1,
        status="scored",
        reward=0.0,
        reward_breakdown={},
        reason=None,
        termination="user_stop",
        user="scripted",
        turns=1,
        tool_calls=0,
        format_repairs=0,
        duration_ms=1.0,
        trace_id="t",
    )
    origins = {"mock": DataOrigin(source="test", revision="1")}
    return EvaluationReport(
        run_id="r",
        status="complete",
        request="",
        plan=plan,
        created_at=datetime(2026, 1, 2, tzinfo=UTC),
        versions={},
        **tables([trial], plan, origins, {}),
        trials=(trial,),
        evaluations=(),
    )


@pytest.mark.parametrize(
    ("number", "model"),
    list(
        enumerate(
            (
                EvaluationReport,
                SummaryRow,
                ReferenceScore,
                HeadlineRow,
                TaskRow,
                TrialRow,
                TrialUsage,
                AgentUsage,
                TeamRow,
                FindingCount,
                TrialEvaluations,
                Evaluation,
                InteractionStep,
            )
        )
    ),
)
def test_every_key_of_a_result_is_explained(number, model):
    assert names("report.md", "key", number) == set(model.model_fields)


def test_every_key_of_a_reply_format_is_explained():
    assert names("failures.md", "key of `reply_format`") == set(ReplyFormat.model_fields)


def test_every_key_of_a_comparison_is_explained():
    for number, model in enumerate((RunComparison, AgentComparison, Comparison, AgentPair)):
        assert names("statistics.md", "key", number) == set(model.model_fields)


def test_the_keys_of_a_line_of_trials_are_named():
    text = (DOCS / "report.md").read_text()
    paragraph = text.partition("## Trials in full")[2].partition("|")[0]
    assert set(TrialRecord.model_fields) <= set(re.findall(r"`(\w+)`", paragraph))


def test_every_way_to_end_is_explained():
    assert names("report.md", "`status` of a trial") == set(
        get_args(TrialRow.model_fields["status"].annotation)
    )
    assert names("report.md", "`status` of a run") == set(
        get_args(EvaluationReport.model_fields["status"].annotation)
    )
    assert names("report.md", "`termination`") == {*get_args(Termination), "harness_error"}


def test_every_component_is_explained():
    bundled = open_benchmarks(lambda _: {})
    components = {name for each in bundled.domains for name in bundled.domain(each).components}
    assert names("scoring.md", "component") == components


def test_every_config_key_is_explained():
    assert names("requests.md", "key") == set(agentbeats._KEYS)


def test_every_flag_of_run_is_explained():
    assert names("requests.md", "flag") == options_of("run")


def test_every_flag_of_serve_is_explained():
    assert names("a2a.md", "flag") == options_of("serve")


def test_every_refusal_is_explained():
    assert names("requests.md", "code") - {"0", "1", "2", "3", "130"} == set(get_args(RefusalCode))


def test_every_key_of_the_leaderboard_row_is_explained():
    assert names("a2a.md", "key") == set(leaderboard_row(report_of_one_scored_trial()))


def test_every_repair_is_explained():
    told = set(re.findall(r"`(\w+)`", ParsedReply.__doc__)) - {"repairs"}
    assert names("agents.md", "repair") == told


def test_every_make_target_is_explained():
    targets = re.findall(r"^([a-z_]+):.*## ", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert names("development.md", "target") == {f"make {target}" for target in targets}


def test_every_benchmark_is_explained():
    scripts = {f"performance/{path.name}" for path in (ROOT / "performance").glob("[a-z]*.py")}
    assert names("development.md", "script") == scripts


def test_every_decision_that_is_linked_has_its_number():
    for page in [*DOCS.rglob("*.md"), ROOT / "README.md"]:
        for number, file in re.findall(r"\[decision (\d+)\]\((?:\w+/)*(\d{4})", page.read_text()):
            assert int(number) == int(file), page


def test_every_flag_of_score_is_explained():
    assert names("coordination.md", "flag") == options_of("score")


def test_every_key_of_a_scored_trace_is_explained():
    evaluators = trace_evaluators()
    entry = TraceEntry(id="t", line=1, trace=Trace(trace_id="t"))
    scored = asyncio.run(score_entry(entry, evaluators, versions={}))
    assert names("coordination.md", "key") == set(scored)


@pytest.mark.parametrize("page", ["coordination.md", "metrics.md"])
def test_every_label_is_explained(page):
    assert names(page, "label") == set(get_args(Label))


def test_every_finding_is_explained():
    assert names("metrics.md", "finding") == set(get_args(Pathology))


def test_every_threshold_stands_with_its_value():
    told = {name: float(value) for name, value, _ in rows_of("metrics.md", "threshold")}
    assert told == asdict(Thresholds())


def test_the_figures_of_the_random_graphs_are_right():
    text = " ".join((DOCS / "metrics.md").read_text().split())
    assert (
        f"share of {SAMPLES} random graphs ({SAMPLES_OF_MANY} above {MANY_AGENTS} agents)" in text
    )
    assert f"above {MAX_AGENTS} agents" in text


def test_every_deduction_stands_with_its_group_and_points():
    told = [
        (label, group, float(points)) for label, group, points in rows_of("judging.md", "label")
    ]
    assert told == [(each.label, each.group, each.points) for each in DEDUCTIONS]


def test_every_quality_stands_with_its_least_score():
    told = rows_of("judging.md", "`coordination_quality`")
    assert {name for name, _ in told} == set(get_args(Quality))
    for quality, least in ((name, score) for score, name in QUALITIES):
        assert [quality, f"{least:g} or more"] in told


def test_every_failure_mode_is_explained_and_those_that_need_a_model_say_so():
    told = rows_of("judging.md", "code")
    assert [(code, name) for code, name, _ in told] == [(m.code, m.name) for m in FAILURE_MODES]
    assert {code for code, _, without in told if without != "abstains"} == set(DETECTORS)


def test_all_that_an_evaluator_is_given_and_returns_is_explained():
    assert names("evaluators.md", "attribute") == {f.name for f in fields(EvaluationContext)}
    assert names("evaluators.md", "field") == set(Evaluation.model_fields)


@pytest.mark.requirement("ext:docs")
def test_every_tier_is_explained_with_the_evaluators_that_come_along():
    rows = rows_of("evaluators.md", "tier")
    told = {row[0]: set(re.findall(r"`(\w+)`", row[2])) or {row[2]} for row in rows}
    registered = trace_evaluators().all
    for tier in Tier:
        (evaluators,) = [
            names for head, names in told.items() if head.startswith(f"`Tier.{tier.name}`")
        ]
        assert evaluators == {each.name for each in registered if each.tier is tier}


def test_every_kind_of_fault_is_explained():
    assert names("coordination.md", "kind") == set(FaultKind)


def test_the_number_of_exercises_and_teams_is_right():
    text = (DOCS / "coordination.md").read_text()
    assert f"holds {len(questions.exercises())} exercises" in text
    assert len(teams()) == 12
    assert "Twelve teams are bundled" in text


def test_the_limits_on_reports_and_calls_are_right():
    reports, proxy, messenger = ReportLimits(), ProxyLimits(), MessengerLimits()
    told = dict(rows_of("visible-teams.md", "limited"))
    assert told == {
        "steps of one report": f"{reports.max_steps:,}; of a trace from a file"
        f" {FILE_LIMITS.max_steps:,}",
        "reports of one conversation": f"{messenger.max_reports}, in answers of"
        f" {messenger.max_report_bytes // 2**20} MiB in all, and no more once they hold"
        f" {MAX_REPORTED_STEPS:,} steps",
        "nested traces": f"{reports.max_depth} deep",
        "a text of a step": f"{reports.max_text_chars:,} characters: head and tail",
        "an id, a name, an attribute": f"{reports.max_name_chars} characters",
        "attributes of a step": f"{reports.max_attributes}",
        "calls open inside each other, through the proxy": f"{proxy.max_hops}",
        "messages of one exercise, through the proxy": f"{proxy.max_calls:,}",
        "a request through the proxy": f"{proxy.max_request_bytes // 2**20} MiB",
        "an answer through the proxy": f"{proxy.max_reply_bytes // 2**20} MiB",
    }


def test_the_limits_of_the_service_are_right():
    limits = RequestLimits()
    told = {name: (value, beyond) for name, value, beyond in rows_of("a2a.md", "limit")}
    assert told == {
        "body of a request": (f"{limits.body_bytes // 2**20} MiB", "413"),
        "JSON values in it": (f"{limits.body_values:,}", "413"),
        "text of a request": (f"{MAX_CHARS:,} characters", "rejected"),
        "evaluations at once": (f"{MAX_RUNNING}", "rejected"),
        "request line and headers": (f"{limits.header_bytes // 2**10} KiB", "400"),
        "time until the headers are complete": (
            f"{limits.header_timeout_s:g} s",
            "the connection is closed",
        ),
        "time from then until the body is complete": (f"{limits.body_timeout_s:g} s", "408"),
        "open connections": (f"{limits.connections}", "503"),
        "push notification configs of a task": (f"{MAX_CONFIGS_PER_TASK}", "-32602"),
        "finished tasks in memory, of each caller": (
            f"{KEPT_IN_MEMORY}, and {BYTES_IN_MEMORY // 2**20} MiB",
            f"the oldest without results is forgotten, then the oldest; `sqlite:PATH` keeps all for {KEPT_DAYS} days",
        ),
        "steps in an artifact's trace": (f"{MAX_STEPS:,}", "the trace is left out"),
    }


def codes_in(cell):
    """What stands between marks; a cell that is one code has lost them."""
    return re.findall(r"`([^`]+)`", cell) or [cell]


def test_every_wish_is_explained_by_words_that_mean_it():
    rows = rows_of("conversation.md", "wish")
    kinds = get_args(get_args(Intent)[0])
    wishes = {name for kind in kinds for name in get_args(kind.model_fields["intent"].annotation)}
    assert {name for row in rows for name in codes_in(row[0])} == wishes
    opened = open_benchmarks(variables)
    read = partial(read_intent, vocabulary=Vocabulary.of(opened), finder=TaskSearch(opened))
    for wish, examples, _ in rows:
        for example in codes_in(examples):
            if example and not example.startswith("["):
                assert read(example, Situation()).intent in codes_in(wish), example


def test_every_key_of_progress_is_explained():
    assert names("a2a.md", "in `progress`") == set(Progress.model_fields)


def test_every_error_code_is_one_of_the_protocol():
    known = {*JSON_RPC_ERROR_CODE_MAP.values(), -32700, -32600, -32601}
    codes = {int(row[1]) for row in rows_of("a2a.md", "error")}
    assert codes <= known


def test_every_state_of_a_run_is_explained():
    assert {state for state, _ in rows_of("runs.md", "state")} == set(get_args(RunState))


def test_every_public_name_of_the_package_is_explained():
    assert names("python.md", "public name") == set(greenroom.__all__)


def test_every_picture_is_made_by_the_script_and_shown_on_a_page():
    pictures = {path.name for path in (DOCS / "images").iterdir()}
    scripts = (ROOT / "scripts" / name for name in ("report_images.py", "demo.py"))
    name_of_picture = r"[\w-]+\.(?:png|svg|webm)\b"
    made = {name for script in scripts for name in re.findall(name_of_picture, script.read_text())}
    pages = [*DOCS.rglob("*.md"), ROOT / "README.md"]
    shown = {
        name
        for page in pages
        for name in re.findall(rf"images/({name_of_picture})", page.read_text())
    }
    assert pictures == made
    assert pictures == shown


def navigation():
    """The pages of each group of the navigation, in its order."""
    nav = (ROOT / "mkdocs.yml").read_text().partition("nav:\n")[2]
    groups = re.findall(r"^  - ([\w ]+):\n((?:^ {6}.*\n)+)", nav, re.MULTILINE)
    return {name: re.findall(r"[\w/-]+\.md", pages) for name, pages in groups}


def test_every_page_is_in_one_of_four_groups():
    groups = navigation()
    assert list(groups) == ["Start", "How to", "Reference", "Internals"]
    pages = [page for group in groups.values() for page in group]
    assert sorted(pages) == sorted(str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md"))


def test_the_start_page_lists_every_page_under_its_group():
    text = (DOCS / "index.md").read_text()
    for group, pages in navigation().items():
        section = text.partition(f"## {group}\n")[2].partition("\n## ")[0]
        listed = re.findall(r"^\| \[.+\]\(([\w/-]+\.md)\)", section, re.MULTILINE)
        within = [page for page in pages if not re.match(r"index|decisions/\d", page)]
        assert listed == within, group


FIRST_LINES = 15


def lines_from(page, anchor):
    """The first lines of a page, or of its section with that anchor."""
    lines = (DOCS / page).read_text().splitlines()
    slugs = [re.sub(r"[^\w -]", "", line.lstrip("# ")).lower().replace(" ", "-") for line in lines]
    start = slugs.index(anchor) if anchor else 0
    return lines[start : start + FIRST_LINES]


def test_every_task_leads_to_a_page_or_section_that_begins_with_a_command():
    wishes = (DOCS / "how-to.md").read_text()
    links = re.findall(r"^\| .+ \| \[.+\]\(([\w-]+\.md)#?([\w-]*)\) \|", wishes, re.MULTILINE)
    assert len(links) > 20
    late = [
        (page, anchor)
        for page, anchor in links
        if not any(line.startswith("```") for line in lines_from(page, anchor))
    ]
    assert not late


def test_every_module_that_a_page_names_exists():
    folders = (
        "adk_agent",
        "evals",
        "performance",
        "purple_agent",
        "scripts",
        "tau_bridge",
        "tests",
    )
    files = [f"/{path.relative_to(ROOT)}" for top in folders for path in (ROOT / top).rglob("*.py")]
    named = {
        (page.name, name)
        for page in DOCS.rglob("*.md")
        for name in re.findall(r"`([\w/]+\.py)(?: \w+)?`", page.read_text())
    }
    assert not {
        (page, name) for page, name in named if not any(file.endswith(f"/{name}") for file in files)
    }


def test_every_page_that_a_program_names_exists():
    folders = ("adk_agent", "evals", "greenroom", "purple_agent", "scripts", "tau_bridge")
    texts = [path.read_text() for top in folders for path in (ROOT / top).rglob("*.py")]
    named = {page for text in texts for page in re.findall(r"docs/[\w/-]+\.md", text)}
    assert named
    assert not {page for page in named if not (ROOT / page).exists()}


def test_every_object_that_a_page_names_exists():
    packages = "adk_agent|evals|purple_agent|tau_bridge"
    for page in DOCS.rglob("*.md"):
        for name in re.findall(rf"`((?:{packages})(?:\.\w+)+)`", page.read_text()):
            if not name.endswith(".py"):
                assert pkgutil.resolve_name(name), f"{page.name} names {name}"
