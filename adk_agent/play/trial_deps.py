"""TrialDeps: what the trials of a run share, and the recorder of each."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from adk_agent.core.embeddings import LiteLlmEmbedding
from adk_agent.core.models import LiteLlmCompletion
from adk_agent.core.plan import EvaluationPlan
from adk_agent.play.team_access import TeamAccess, Teams
from adk_agent.runs.jobs import TrialJob
from adk_agent.runs.live import LiveConversations
from evals.driver import EvaluatorRegistry
from tau_bridge.a2a.messenger import Messenger
from tau_bridge.benchmarks import Benchmarks
from tau_bridge.clock import Clock, Runtime
from tau_bridge.otlp.inbox import RunSpans
from tau_bridge.recorder import TraceRecorder
from tau_bridge.tool_server import ToolServer


@dataclass(frozen=True, kw_only=True)
class PlayDeps:
    """The part of an evaluation's dependencies that a worker makes for itself."""

    benchmarks: Benchmarks
    """All that there are; a plan's own options are applied to them."""
    runtime: Runtime
    evaluators: EvaluatorRegistry
    """For trials, for participants and for the run."""
    team_evaluators: EvaluatorRegistry
    """For trials in which a team is watched."""
    new_messenger: Callable[[], Messenger]


@dataclass(frozen=True, kw_only=True)
class TrialDeps:
    """The dependencies that all trials of a run share."""

    run_id: str
    plan: EvaluationPlan
    benchmarks: Benchmarks
    """With the options of the plan."""
    urls: Mapping[str, str]
    """Each participant's address in the plan to the address where it answers."""
    teams: Teams | Mapping[str, TeamAccess]
    messenger: Messenger
    clock: Clock
    evaluators: EvaluatorRegistry
    team_evaluators: EvaluatorRegistry
    """For watched teams; they may ask a model more than is worth its price for every trial."""
    gone: Callable[[str], str | None]
    """Returns why the participant at an address is given up; None while it is not."""
    trust_reported_steps: bool = True
    """True if what participants report of their own calls joins the trace."""
    user_model: LiteLlmCompletion | None
    judge_model: LiteLlmCompletion | None
    embedding_model: LiteLlmEmbedding | None = None
    """Makes vectors of texts where a domain of the plan needs them."""
    tools: ToolServer | None = None
    """Served where a domain of the plan needs tools."""
    live: LiveConversations | None = None
    """Shows conversations while they go on; None where nobody can read them."""
    spans: RunSpans | None = None
    """Receives the spans of agents; None where nothing is received."""

    def watches_team(self, domain: str) -> bool:
        """Tell whether the calls between the members of a team are watched in a domain."""
        return "team" in self.benchmarks.domain(domain).needs

    @property
    def takes_turns(self) -> bool:
        """Tell whether a team plays one task at a time, so that its calls belong to that task."""
        return any(self.watches_team(planned.domain) for planned in self.plan.tasks)


def recorder_of(
    job: TrialJob,
    deps: TrialDeps,
    *,
    redact: Callable[[str], str] | None = None,
    variant: str | None = None,
) -> TraceRecorder:
    """Build the recorder of one trial.

    Args:
        job: The trial.
        deps: What the trials share.
        redact: Takes out of a text what must not be told, where the conversation may be read while
            it goes on; None where it never begins, or nobody is to follow it.
        variant: Tells a play under faults, or one more play, from the trial's first; None: it is
            that one.
    """
    # Identifiers follow from the run and the trial, so that a trace does not depend on the
    # order in which concurrent trials happen to proceed.
    key = f"{deps.run_id}\n{job.label}" + (f"\n{variant}" if variant else "")
    trace_id = hashlib.blake2s(key.encode(), digest_size=8).hexdigest()
    numbers = itertools.count(1)
    runtime = Runtime(clock=deps.clock, new_id=lambda: f"{trace_id}.{next(numbers)}")
    observer = (
        None
        if deps.live is None or redact is None
        else deps.live.observer(job, trace_id, redact=redact)
    )
    return TraceRecorder(trace_id, runtime=runtime, observer=observer)
