"""Growth of the graph evaluation, from 10 to 100,000 steps.

For each trace: seconds of CPU to turn it into interactions, for the metrics of the graph alone,
for the percentiles among random graphs, and for the whole evaluator, which does all of that and
the metrics of time, labels and findings.

Usage: python performance/graph.py [MOST_STEPS]
"""

import asyncio
import sys
import time
from datetime import UTC, datetime, timedelta

import numpy as np

from evals.base import EvaluationContext
from evals.graph import centrality, centralization, load, paths, structure
from evals.graph.evaluator import GraphEvaluator
from evals.graph.interactions import Interactions
from evals.graph.rewiring import percentiles
from evals.trace import CallType, InteractionStep, Trace

T0 = datetime(2026, 1, 1, tzinfo=UTC)
METRICS = [
    metric()
    for module in (centrality, structure, paths, centralization, load)
    for metric in module.METRICS
]


def trace_of(pairs, *, nested=False):
    return Trace(
        trace_id="t",
        steps=tuple(
            InteractionStep(
                step_id=f"s{at}",
                trace_id="t",
                parent_step_id=f"s{at - 1}" if nested and at else None,
                call_type=CallType.AGENT,
                caller=caller,
                callee=callee,
                start_time=T0 + timedelta(seconds=at),
                end_time=T0 + timedelta(seconds=at + 0.9),
                request_text=f"question {at % 97}",
            )
            for at, (caller, callee) in enumerate(pairs)
        ),
    )


def at_random(steps, agents):
    chosen = np.random.default_rng(1)
    callers = chosen.integers(agents, size=steps)
    callees = (callers + chosen.integers(1, agents, size=steps)) % agents
    return trace_of((f"a{a}", f"a{b}") for a, b in zip(callers, callees, strict=True))


def chain(agents):
    return trace_of(((f"a{n}", f"a{n + 1}") for n in range(agents - 1)), nested=True)


def traces(most):
    sizes = [(10, 5), (100, 10), (1_000, 20), (1_000, 50), (20_000, 50), (100_000, 50)]
    for steps, agents in [*sizes, (100_000, 1_000)]:
        if steps <= most:
            yield f"{steps:,} steps, {agents:,} agents", at_random(steps, agents)
    for agents in (20, 50, 1_000, 2_000, 100_000):
        if agents <= most:
            yield f"chain of {agents:,} agents", chain(agents)


def timed(work):
    before = time.process_time()
    result = work()
    return time.process_time() - before, result


def main():
    most = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    evaluator = GraphEvaluator()
    evaluate = evaluator.evaluate
    with asyncio.Runner() as runner:
        runner.run(evaluate(EvaluationContext(trace=at_random(30, 8))))  # late imports
        columns = ("build", "graph", "random", "evaluator")
        print(f"{'CPU seconds':32}" + "".join(f"{column:>11}" for column in columns))
        for label, trace in traces(most):
            build_s, team = timed(lambda trace=trace: Interactions.of(trace))
            graph_s, _ = timed(lambda team=team: [metric.compute(team) for metric in METRICS])
            random_s, _ = timed(lambda team=team: percentiles(team))
            context = EvaluationContext(trace=trace)
            all_s, _ = timed(lambda context=context: runner.run(evaluate(context)))
            figures = (build_s, graph_s, random_s, all_s)
            print(f"{label:32}" + "".join(f"{figure:11.3f}" for figure in figures), flush=True)


if __name__ == "__main__":
    main()
