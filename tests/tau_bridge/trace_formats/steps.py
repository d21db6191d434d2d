"""What tests look at in a trace."""

from evals.trace import CallType


def agent_calls(entry):
    """Callers and callees of the calls of agents, in order."""
    steps = entry.trace.of_type(CallType.AGENT)
    return [(step.caller, step.callee) for step in steps]


def tool_calls(entry):
    """Callers and callees of the calls of tools and models, in order."""
    steps = entry.trace.of_type(CallType.TOOL)
    return [(step.caller, step.callee) for step in steps]


def step_to(entry, callee):
    """The only step that calls it."""
    [step] = [step for step in entry.trace.steps if step.callee == callee]
    return step
