"""The composition root: chooses every default, and puts the parts together."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import SecretStr

from adk_agent.core.answer_cache import AnswerCache
from adk_agent.core.settings import Settings
from adk_agent.core.versions import versions
from adk_agent.play.evaluation import EvaluationDeps
from adk_agent.play.evaluators import trace_evaluators, trial_evaluators
from adk_agent.play.executors.base import ExecutorName, OpenExecutor
from adk_agent.play.executors.local import open_local
from adk_agent.play.executors.ray_executor import on_ray
from adk_agent.play.pipeline import Pipeline, RulesPipeline
from adk_agent.play.references import ReferenceBook
from adk_agent.play.stop_rule import StopRule
from adk_agent.requests.catalogue import SourceCatalogue
from adk_agent.requests.lookup import LookupTools
from adk_agent.results.report import OnReport, ignored
from evals.driver import EvaluatorRegistry
from tau_bridge.a2a.limits import MessengerLimits
from tau_bridge.a2a.messenger import Messenger
from tau_bridge.a2a.policy import NetworkPolicy
from tau_bridge.clock import Clock, Runtime
from tau_bridge.tau2.data import DataSource, open_source
from tau_bridge.tau2.domains import load_domain

if TYPE_CHECKING:
    from adk_agent.workflow.sequence import RootAgent


@dataclass(frozen=True, kw_only=True)
class Assembly:
    """What a program chooses; everything has a default that suits a real run.

    Args:
        settings: From the environment.
        timeout_s: How long an agent may take over one reply.
        tokens: Bearer tokens by agent address.
        runtime: Clock and identifiers.
        source: Task data; opened from the settings where none is given.
        network: Which addresses may be called.
        may_register: Whether requests may register agents. Their names count for everybody, so not
            where callers do not know each other.
        executor: Where trials are played.
        stop_rule: When a run ends before all of its trials were played.
        cache_dir: Where answers of language models are kept, and looked for; None for nowhere.
    """

    settings: Settings
    timeout_s: float = 300.0
    tokens: Mapping[str, str] = field(default_factory=dict)
    runtime: Runtime = field(default_factory=Runtime.system)
    source: DataSource | None = None
    network: NetworkPolicy = field(default_factory=NetworkPolicy.open)
    may_register: bool = True
    executor: ExecutorName = "local"
    stop_rule: StopRule | None = None
    cache_dir: Path | None = None

    def secrets(self) -> tuple[SecretStr, ...]:
        """What must not be seen in a log."""
        return (*self.settings.secrets(), *(SecretStr(token) for token in self.tokens.values()))

    def open_source(self) -> DataSource:
        """The task data.

        Raises:
            DataFolderError: there is none, or TAU2_DATA_DIR does not name a data folder.
        """
        return self.source or open_source(self.settings.tau2_data_dir)

    def prepared(self) -> Assembly:
        """The same with everything read that takes seconds the first time.

        Raises:
            DataFolderError: the task data is not there.
        """
        source = self.open_source()
        for domain in source.domains():
            load_domain(source, domain)
        return replace(self, source=source)

    def evaluation_deps(self, source: DataSource | None = None) -> EvaluationDeps:
        """What `evaluate` needs."""
        limits = MessengerLimits(timeout_s=self.timeout_s)
        return EvaluationDeps(
            settings=self.settings,
            source=source or self.open_source(),
            runtime=self.runtime,
            new_run_id=lambda: new_run_id(self.runtime.clock),
            evaluators=self._trial_evaluators,
            team_evaluators=self._trace_evaluators,
            new_messenger=lambda: Messenger(limits=limits, tokens=self.tokens, policy=self.network),
            versions=versions(),
            results_dir=self.settings.results_dir,
            references=self._references,
            open_executor=self._open_executor(),
            stop_rule=self.stop_rule,
            answers=None if self.cache_dir is None else AnswerCache(self.cache_dir),
        )

    @cached_property
    def _references(self) -> ReferenceBook:
        """Kept from run to run, for the same tasks have the same floor and ceiling."""
        return ReferenceBook()

    def _open_executor(self) -> OpenExecutor:
        if self.executor == "local":
            return open_local
        # A worker plays in its own process: it opens the data there, and asks nobody else.
        there = replace(self, executor="local")
        return on_ray(
            self.settings.ray_address, build=there.evaluation_deps, secrets=self.secrets()
        )

    @cached_property
    def _trial_evaluators(self) -> EvaluatorRegistry:
        """Looked up once: going through all entry points takes as long as a few trials."""
        return trial_evaluators(self.settings)

    @cached_property
    def _trace_evaluators(self) -> EvaluatorRegistry:
        return trace_evaluators(self.settings)

    def pipeline(self) -> Pipeline:
        """A new pipeline: of ADK's agents where a language model speaks for them, else by rules.

        Raises:
            DataFolderError: the task data is not there.
        """
        if not self.settings.by_rules:
            from adk_agent.workflow.session import WorkflowPipeline

            return WorkflowPipeline(self.root_agent)
        source = self.open_source()
        deps = self.evaluation_deps(source)
        catalogue = SourceCatalogue(source)
        lookup = LookupTools(
            catalogue=lambda: catalogue,
            results_dir=deps.results_dir,
            new_messenger=deps.new_messenger,
        )
        return RulesPipeline(deps=deps, catalogue=catalogue, registered=lookup.registered)

    def root_agent(self, on_report: OnReport = ignored) -> RootAgent:
        """A new workflow agent.

        Args:
            on_report: Is given the report of each evaluation that it has finished.
        """
        # ADK takes seconds to import, and who goes by rules needs none of it.
        from adk_agent.workflow.agents import WorkflowDeps
        from adk_agent.workflow.interpreter import InterpreterDeps
        from adk_agent.workflow.models import agent_author, agent_model
        from adk_agent.workflow.selector import SelectorDeps
        from adk_agent.workflow.sequence import build_root_agent

        source = self.open_source()
        model = agent_model(self.settings)
        return build_root_agent(
            WorkflowDeps(
                selector=SelectorDeps(
                    catalogue=lambda: SourceCatalogue(source),
                    model=model,
                    may_register=self.may_register,
                ),
                evaluation=self.evaluation_deps(source),
                interpreter=InterpreterDeps(
                    model=model,
                    results_dir=self.settings.results_dir,
                    author=agent_author(self.settings),
                ),
                on_report=on_report,
            )
        )


def new_run_id(clock: Clock) -> str:
    """A run id that sorts by time: `20261121-074500-1f2e3d`."""
    return f"{clock.now():%Y%m%d-%H%M%S}-{uuid.uuid4().hex[:6]}"
