"""Assembles the stages of the reference agent from its settings."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from purple_agent.case import Complete, Stage
from purple_agent.memory.cases import DATABASE, CaseMemory
from purple_agent.memory.summary import ModelSummary
from purple_agent.pipeline import NamedStage, Pipeline
from purple_agent.process.checkpoint import CheckpointStore
from purple_agent.reasoners.deterministic.reasoner import DeterministicReasoner
from purple_agent.reference.agent import ReferenceAgent
from purple_agent.reference.tracing import TimedTools
from purple_agent.sessions import SessionStore
from purple_agent.stages.budget import BudgetStage
from purple_agent.stages.compression import CompressionStage
from purple_agent.stages.memory import MemoryStage
from purple_agent.stages.outcome import OutcomeStage
from purple_agent.stages.policy import PolicyStage
from purple_agent.stages.privacy import PrivacyStage
from purple_agent.stages.process import ProcessStage
from purple_agent.stages.reasoner import ReasonerStage
from purple_agent.stages.session import SessionStage
from purple_agent.stages.structure import StructureStage, describe
from purple_agent.stages.tools import ToolsStage
from purple_agent.toolbox.allowed import AllowedHosts
from purple_agent.toolbox.exchange import new_http_client
from purple_agent.toolbox.opening import Opened, Opener, ToolOpener

if TYPE_CHECKING:
    from purple_agent.reasoners.reasoner import Reasoner
    from purple_agent.settings import ReferenceSettings

Close = Callable[[], Awaitable[None]]


def _nothing() -> None:
    """Prepare nothing: reasoning by rules needs no slow import."""


@dataclass(frozen=True, kw_only=True)
class _ReasonerParts:
    """The reasoner and its budget."""

    reasoner: Reasoner
    budget: BudgetStage
    complete: Complete | None = None
    """Answers a question outside the conversation; None without a model."""
    prepare: Callable[[], object] = _nothing
    close: tuple[Close, ...] = ()


def build_agent(
    settings: ReferenceSettings, *, clock: Callable[[], float] = time.time
) -> ReferenceAgent:
    """Build the reference agent; the caller closes it, in the event loop that used it.

    Args:
        settings: The agent's settings.
        clock: Returns seconds since 1970, for traces.
    """
    store = SessionStore()
    http = new_http_client()
    parts = _reasoner_parts(settings)
    memory, checkpoints = _kept(settings)
    opener = partial(_timed, ToolOpener(http, hosts=AllowedHosts(settings.tool_hosts)), clock)
    reasoner = ReasonerStage(
        parts.reasoner, deadline_s=settings.deadline_s, level=parts.budget.level_left
    )
    summarise = None if parts.complete is None else ModelSummary(parts.complete)
    stages: tuple[tuple[str, Stage], ...] = (
        ("privacy", PrivacyStage(parts.complete, level=parts.budget.level_left)),
        ("budget", parts.budget),
        ("memory", MemoryStage(memory)),
        ("session", SessionStage()),
        ("policy", PolicyStage()),
        ("process", ProcessStage()),
        ("tools", ToolsStage(opener)),
        ("reasoner", reasoner),
        ("compression", CompressionStage(store, summarise=summarise)),
        ("outcome", OutcomeStage(memory)),
        ("structure", StructureStage()),
    )
    named = [NamedStage(number=n, name=name, run=run) for n, (name, run) in enumerate(stages)]
    return ReferenceAgent(
        Pipeline(named, clock=clock, describe=describe),
        store,
        checkpoints=checkpoints,
        prepare=parts.prepare,
        close=(http.aclose, *parts.close),
        uses_models=parts.complete is not None,
    )


def _reasoner_parts(settings: ReferenceSettings) -> _ReasonerParts:
    if settings.primary is None and settings.brainos_url is None:
        return _ReasonerParts(reasoner=DeterministicReasoner(), budget=BudgetStage(settings))
    from purple_agent.reasoners.counting import ModelTokens
    from purple_agent.reasoners.model.library import load_litellm, require_litellm
    from purple_agent.reasoners.model.reasoner import ModelReasoner

    uses_litellm = any((settings.primary, settings.fallback, settings.small))
    if uses_litellm:
        require_litellm()
    reasoner = ModelReasoner(settings)
    budget = BudgetStage(settings)
    if settings.primary is not None:
        tokens = ModelTokens(settings.primary)
        budget = BudgetStage(settings, counter=tokens.count, window=tokens.window)
    return _ReasonerParts(
        reasoner=reasoner,
        budget=budget,
        complete=reasoner.complete,
        prepare=load_litellm if uses_litellm else _nothing,
        close=(reasoner.aclose,),
    )


def _kept(settings: ReferenceSettings) -> tuple[CaseMemory | None, CheckpointStore | None]:
    """Open the case memory and the checkpoints, if there is a folder for them."""
    if settings.state_dir is None:
        return None, None
    settings.state_dir.mkdir(parents=True, exist_ok=True)
    return CaseMemory(settings.state_dir / DATABASE), CheckpointStore(settings.state_dir)


async def _timed(
    opener: Opener, clock: Callable[[], float], endpoint: str, session_id: str
) -> Opened:
    """Open tools whose calls are recorded for the trace."""
    opened = await opener(endpoint, session_id)
    return replace(opened, tools=TimedTools(opened.tools, clock=clock))
