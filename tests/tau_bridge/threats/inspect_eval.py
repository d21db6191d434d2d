"""A program: plays scripts in Inspect's own `eval`, as JSON on stdin, and prints the verdicts.

In: for each agent, for each scenario, for each of its cases in order, the calls and the last words.
It is a process of its own, because Inspect leaves streams open.
"""

import json
import sys
import tempfile

from inspect_ai import eval as evaluate
from inspect_ai.model import ChatMessageAssistant, ModelOutput, ModelUsage, get_model
from inspect_ai.tool import ToolCall
from inspect_evals import agent_threat_bench


def output(text, calls):
    made = [
        ToolCall(id=str(number), function=name, arguments=arguments)
        for number, (name, arguments) in enumerate(calls)
    ]
    said = ModelOutput.from_message(ChatMessageAssistant(content=text, tool_calls=made or None))
    said.usage = ModelUsage()  # otherwise it counts tokens, by a table from the network
    return said


def play(scenario, scripts, folder):
    outputs = [
        each
        for calls, words in scripts
        for each in ([output("", calls), output(words, [])] if calls else [output(words, [])])
    ]
    [log] = evaluate(
        getattr(agent_threat_bench, f"agent_threat_bench_{scenario}")(),
        model=get_model("mockllm/model", custom_outputs=outputs, memoize=False),
        max_samples=1,
        display="none",
        log_dir=folder,
    )
    assert log.status == "success", log.error
    return {
        sample.id: {
            name.upper(): float(value == "C")
            for name, value in sample.scores["agent_threat_bench_scorer"].value.items()
        }
        for sample in log.samples
    }


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        found = {}
        for agent, scenarios in json.load(sys.stdin).items():
            played = [play(name, scripts, folder) for name, scripts in scenarios.items()]
            found[agent] = {case_id: each[case_id] for each in played for case_id in each}
        sys.stdout.write(json.dumps(found))
