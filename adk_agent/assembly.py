"""The composition root: chooses every default, and puts the parts together."""

from __future__ import annotations

import platform
import uuid
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from importlib import metadata
from typing import TYPE_CHECKING

from adk_agent.catalogue import SourceCatalogue
from adk_agent.errors import PreflightError, RequestError
from adk_agent.evaluation import EvaluationDeps
from adk_agent.interpreter import InterpreterDeps, offline_interpreter_model
from adk_agent.markdown import render_markdown
from adk_agent.models import LiteLlmCompletion, ModelSpec, default_spec, import_litellm
from adk_agent.offline import OfflineModel
from adk_agent.runs import load_report, rewrite_markdown
from adk_agent.scoring import RESERVED
from adk_agent.selector import SelectorDeps, offline_selector_model
from adk_agent.settings import Settings
from adk_agent.workflow import WorkflowDeps, build_root_agent
from evals.base import BaseEvaluator
from evals.driver import DEFAULT_TIMEOUT_S, EvaluatorError, EvaluatorRegistry, check_evaluator
from evals.graph.catalogue import ENTRY_POINT_GROUP as METRICS_GROUP
from evals.graph.catalogue import metrics_with_plugins
from evals.graph.evaluator import METRIC_TIMEOUT_S, GraphEvaluator
from evals.graph.metric import Metric, MetricRegistry
from evals.judge.evaluator import JudgeEvaluator
from evals.judge.modes import FailureModesEvaluator
from evals.latency import LatencyEvaluator
from evals.text import TextSimilarityEvaluator
from tau_bridge.a2a.limits import MessengerLimits
from tau_bridge.a2a.messenger import Messenger
from tau_bridge.clock import Clock, Runtime
from tau_bridge.errors import nearest
from tau_bridge.tau2.data import DataSource, open_source

if TYPE_CHECKING:
    from google.adk.agents import SequentialAgent
    from google.adk.models.base_llm import BaseLlm

EVALUATORS_GROUP = "greenroom.evaluators"
"""The group of entry points under which a distribution offers evaluators."""
_NAMED_VERSIONS = (
    "greenroom",
    "a2a-sdk",
    "google-adk",
    "inspect-evals",
    "litellm",
    "networkx",
    "numpy",
)


@dataclass(frozen=True, kw_only=True)
class Assembly:
    """What a program chooses; everything has a default that suits a real run.

    Args:
        settings: From the environment.
        timeout_s: How long an agent may take over one reply.
        tokens: Bearer tokens by agent address.
        runtime: Clock and identifiers.
        source: Task data; opened from the settings where none is given.
        evaluators_timeout_s: How long all evaluators together may take over one trace.
        metrics_timeout_s: How long the graph metrics of plugins may.
    """

    settings: Settings
    timeout_s: float = 300.0
    tokens: Mapping[str, str] = field(default_factory=dict)
    runtime: Runtime = field(default_factory=Runtime.system)
    source: DataSource | None = None
    evaluators_timeout_s: float = DEFAULT_TIMEOUT_S
    metrics_timeout_s: float = METRIC_TIMEOUT_S

    def open_source(self) -> DataSource:
        """The task data.

        Raises:
            DataFolderError: there is none, or TAU2_DATA_DIR does not name a data folder.
        """
        return self.source or open_source(self.settings.tau2_data_dir)

    def evaluation_deps(self, source: DataSource | None = None) -> EvaluationDeps:
        """What `evaluate` needs."""
        limits = MessengerLimits(timeout_s=self.timeout_s)
        return EvaluationDeps(
            settings=self.settings,
            source=source or self.open_source(),
            runtime=self.runtime,
            new_run_id=lambda: new_run_id(self.runtime.clock),
            evaluators=self.trial_evaluators(),
            team_evaluators=self.trace_evaluators(),
            new_messenger=lambda: Messenger(limits=limits, tokens=self.tokens),
            versions=versions(),
            results_dir=self.settings.results_dir,
        )

    def trial_evaluators(self) -> EvaluatorRegistry:
        """What judges trials of τ²-bench.

        A model is asked there about teams alone, and not about failure modes: most trials are the
        conversation of one agent, and there are many of them.
        """
        return self._evaluators(thorough=False)

    def trace_evaluators(self) -> EvaluatorRegistry:
        """What judges exercises and traces from files: everything."""
        return self._evaluators(thorough=True)

    def _evaluators(self, *, thorough: bool) -> EvaluatorRegistry:
        """All evaluators, those of plugins too, without those that are switched off.

        Raises:
            RequestError: what is to be switched off does not exist.
        """
        spec = default_spec(self.settings)
        ask = LiteLlmCompletion(spec).ask if spec is not None else None
        by = f"llm:{spec.name}" if spec is not None else "rules"
        metrics, warnings = graph_metrics()
        registry = MetricRegistry(metrics)
        own: tuple[BaseEvaluator, ...] = (
            JudgeEvaluator(ask, produced_by=by, judges_dyads=thorough),
            FailureModesEvaluator(ask if thorough else None, produced_by=by),
            LatencyEvaluator(),
            TextSimilarityEvaluator(),
        )
        taken = {GraphEvaluator.name, *RESERVED, *(evaluator.name for evaluator in own)}
        plugins, more_warnings = evaluator_plugins(taken)
        graph = GraphEvaluator(
            registry,
            metric_timeout_s=self.metrics_timeout_s,
            warnings=(*warnings, *more_warnings),
        )
        evaluators = EvaluatorRegistry([graph, *own, *plugins], timeout_s=self.evaluators_timeout_s)
        _switch_off(self.settings.without, evaluators, registry)
        return evaluators

    def root_agent(self) -> SequentialAgent:
        """A new workflow agent."""
        source = self.open_source()
        results_dir = self.settings.results_dir
        return build_root_agent(
            WorkflowDeps(
                selector=SelectorDeps(
                    catalogue=lambda: SourceCatalogue(source),
                    model=agent_model(self.settings, offline_selector_model()),
                ),
                evaluation=self.evaluation_deps(source),
                interpreter=InterpreterDeps(
                    model=agent_model(self.settings, offline_interpreter_model()),
                    author=agent_author(self.settings),
                    save=lambda run_id, prose, author: rewrite_markdown(
                        results_dir,
                        run_id,
                        render_markdown(
                            load_report(results_dir, run_id), interpretation=prose, author=author
                        ),
                    ),
                ),
            )
        )


def graph_metrics() -> tuple[tuple[Metric, ...], tuple[str, ...]]:
    """The graph metrics, those of installed plugins too, and a warning for each left out."""
    return metrics_with_plugins(metadata.entry_points(group=METRICS_GROUP))


def evaluator_plugins(
    taken: Iterable[str],
) -> tuple[tuple[BaseEvaluator, ...], tuple[str, ...]]:
    """The evaluators of installed plugins, and a warning for each that cannot be used.

    Args:
        taken: Names that no plugin can have.
    """
    found: dict[str, BaseEvaluator] = {}
    warnings = []
    for point in sorted(metadata.entry_points(group=EVALUATORS_GROUP), key=lambda p: p.name):
        try:
            evaluator = _loaded(point, {*taken, *found})
        except Exception as error:  # noqa: BLE001 - a plugin may raise anything while it is loaded
            warnings.append(
                f"evaluator plugin {point.name!r} is left out: {type(error).__name__}: {error}"
            )
        else:
            found[evaluator.name] = evaluator
    return tuple(found.values()), tuple(warnings)


def _loaded(point: metadata.EntryPoint, taken: Collection[str]) -> BaseEvaluator:
    loaded = point.load()
    evaluator = check_evaluator(loaded() if isinstance(loaded, type) else loaded)
    if evaluator.name in taken:
        raise EvaluatorError(f"the name {evaluator.name!r} is taken: give it another one")
    return evaluator


def _switch_off(without: str, evaluators: EvaluatorRegistry, metrics: MetricRegistry) -> None:
    known = {metric.name for metric in metrics.all}
    for name in filter(None, map(str.strip, without.split(","))):
        if name in evaluators.names:
            evaluators.enable(name, enabled=False)
        elif name in known:
            metrics.enable(name, enabled=False)
        else:
            raise RequestError(
                f"there is no evaluator or metric {name!r} to switch off: "
                f"{nearest(name, [*evaluators.names, *sorted(known)])}"
            )


def agent_model(settings: Settings, offline: OfflineModel) -> BaseLlm | str:
    """The model of an ADK agent: GREENROOM_AGENT_MODEL, else AGENTBEATS_LLM_*, else offline.

    Raises:
        PreflightError: a Gemini model is asked for, and nothing says how to reach it.
    """
    if settings.offline:
        return offline
    if settings.agent_model is not None:
        if "/" not in settings.agent_model:
            if not settings.google_configured:
                raise PreflightError(
                    f"GREENROOM_AGENT_MODEL {settings.agent_model!r} is served by Google's API: "
                    "set GOOGLE_API_KEY, or write provider/model for another one, or use --offline"
                )
            return settings.agent_model  # a bare Gemini name, which ADK serves itself
        return _lite_llm(ModelSpec(name=settings.agent_model, litellm_name=settings.agent_model))
    spec = default_spec(settings)
    return offline if spec is None else _lite_llm(spec)


def agent_author(settings: Settings) -> str:
    """Who speaks for an ADK agent: `rules`, or `llm:` and the model's name."""
    spec = default_spec(settings)
    name = None if settings.offline else settings.agent_model or (spec.name if spec else None)
    return "rules" if name is None else f"llm:{name}"


def _lite_llm(spec: ModelSpec) -> BaseLlm:
    import_litellm()
    from google.adk.models.lite_llm import LiteLlm

    arguments = {} if spec.base_url is None else {"api_base": spec.base_url}
    if spec.base_url is not None or spec.api_key is not None:
        arguments["api_key"] = spec.api_key.get_secret_value() if spec.api_key else "none"
    return LiteLlm(model=spec.litellm_name, timeout=120, num_retries=2, **arguments)


def new_run_id(clock: Clock) -> str:
    """A run id that sorts by time: `20261121-074500-1f2e3d`."""
    return f"{clock.now():%Y%m%d-%H%M%S}-{uuid.uuid4().hex[:6]}"


def versions() -> dict[str, str]:
    """The versions that a result depends on, by distribution name."""
    found = {"python": platform.python_version()}
    for name in _NAMED_VERSIONS:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "not installed"
    return found
