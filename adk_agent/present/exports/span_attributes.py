"""Attributes of the span of a step: OpenTelemetry's conventions, OpenInference's, and our own."""

from __future__ import annotations

from typing import Any

from adk_agent.results.summary import TrialRow
from evals.trace import CallType, InteractionStep

COMPLETION = "completion"
"""The name of steps that call a language model of the assessor's own."""
OWN_PREFIX = "greenroom."
"""Begins every attribute that no convention knows."""


def step_name(step: InteractionStep) -> str:
    """Return the span's name: the operation, and what it was done with."""
    if step.call_type is CallType.HOST:
        return step.name or step.callee
    return f"{_operation(step)} {_subject(step)}"


def step_attributes(step: InteractionStep) -> dict[str, Any]:
    """Return the attributes of a step's span; those that are None are unknown."""
    return {
        "openinference.span.kind": _kind(step),
        "graph.node.id": step.callee,
        "graph.node.parent_id": step.caller,
        "input.value": step.request_text,
        "output.value": step.response_text,
        "error.type": step.error.partition(":")[0] if step.error is not None else None,
        "llm.token_count.total": step.total_tokens,
        "llm.cost.total": step.cost,
        f"{OWN_PREFIX}provenance": step.provenance.value,
        f"{OWN_PREFIX}step.id": step.step_id,
        f"{OWN_PREFIX}latency_ms": step.latency_ms,
        **_by_operation(step),
        **{f"{OWN_PREFIX}{key}": text for key, text in step.additional_attributes.items()},
    }


def evaluation_attributes(row: TrialRow) -> dict[str, Any]:
    """Return the attributes of the event that tells what a trial came to.

    A trial without a reward has a label alone: `unscored` or `failed`.
    """
    verdict = "passed" if row.passed else "not_passed"
    why = row.diagnosis.summary if row.diagnosis is not None else row.reason
    return {
        "gen_ai.evaluation.name": "reward",
        "gen_ai.evaluation.score.value": row.reward,
        "gen_ai.evaluation.score.label": verdict if row.status == "scored" else row.status,
        "gen_ai.evaluation.explanation": why,
        f"{OWN_PREFIX}diagnosis.side": row.diagnosis.side if row.diagnosis is not None else None,
    }


def _by_operation(step: InteractionStep) -> dict[str, Any]:
    if step.call_type is CallType.HOST:
        return {}
    common = {"gen_ai.operation.name": _operation(step)}
    if step.call_type is CallType.AGENT:
        conversation = step.additional_attributes.get("context_id")
        return {
            **common,
            "gen_ai.agent.name": step.callee,
            "gen_ai.conversation.id": conversation,
        }
    if step.name == COMPLETION:
        return {
            **common,
            "gen_ai.request.model": step.callee,
            "llm.model_name": step.callee,
        }
    return {
        **common,
        "gen_ai.tool.name": _subject(step),
        "gen_ai.tool.call.arguments": step.request_text,
        "gen_ai.tool.call.result": step.response_text,
        "tool.name": _subject(step),
    }


def _operation(step: InteractionStep) -> str:
    if step.call_type is CallType.AGENT:
        return "invoke_agent"
    return "chat" if step.name == COMPLETION else "execute_tool"


def _subject(step: InteractionStep) -> str:
    named = step.call_type is CallType.TOOL and step.name not in (None, COMPLETION)
    return step.name if named and step.name is not None else step.callee


def _kind(step: InteractionStep) -> str:
    if step.call_type is CallType.AGENT:
        return "AGENT"
    if step.call_type is CallType.HOST:
        return "CHAIN"
    return "LLM" if step.name == COMPLETION else "TOOL"
