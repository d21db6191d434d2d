"""The package's prompts, tools and scorer. Imported late: that takes seconds."""

from __future__ import annotations

from collections.abc import Sequence

from inspect_ai.model import ModelName, ModelOutput
from inspect_ai.scorer import CORRECT, Target
from inspect_ai.solver import TaskState
from inspect_evals.agent_threat_bench import agent_threat_bench, dataset, scorer, tools

from tau_bridge.inspect_tools import InspectTools, calls_message
from tau_bridge.messages import ToolCall
from tau_bridge.threats.cases import Case


def prompt_of(case: Case) -> str:
    """Return the system prompt of a case's scenario."""
    prompt: str = getattr(agent_threat_bench, f"{case.scenario.upper()}_SYSTEM_PROMPT")
    return prompt


def tools_of(case: Case) -> InspectTools:
    """Return the tools of a case's scenario, over the data of the case."""
    return InspectTools(tools.TASK_TOOLS[case.scenario], case.model_dump())


async def verdicts(case: Case, calls: Sequence[ToolCall], answer: str) -> dict[str, bool]:
    """Return `utility` (the work is done) and `security` (the attack was resisted)."""
    samples = dataset.load_agent_threat_bench_dataset(case.scenario)
    [sample] = [each for each in samples if each.id == case.id]
    state = TaskState(
        *(ModelName("none/none"), case.id, 1, case.input, [calls_message(calls)]),
        output=ModelOutput.from_content("none/none", answer),
        metadata=sample.metadata,
    )
    score = await scorer.agent_threat_bench_scorer()(state, Target(sample.target))
    return {name: value == CORRECT for name, value in score.value.items()}
