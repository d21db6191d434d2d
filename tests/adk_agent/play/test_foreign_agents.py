"""The rules that stand in for a language model in scripts/foreign_agents."""

import json
from collections import Counter

from foreign_agents.model import reply

from adk_agent.play.evaluation import evaluate
from tests.fakes import scripted_agent, serve


async def test_the_rules_use_tools_and_read_their_results_as_json(make_deps, make_plan):
    histories, counts = {}, Counter()

    def answer(text, context_id):
        history = histories.setdefault(context_id, [])
        history.append({"role": "user", "content": text})
        said = json.dumps(reply(history, counts))
        history.append({"role": "assistant", "content": said})
        return said

    with serve(scripted_agent(answer)) as url:
        report = await evaluate(make_plan(url), make_deps(), request="")
    (row,) = report.trials
    assert (row.reward, row.tool_calls, row.format_repairs) == (1.0, 1, 0)
    assert (counts["JSON results"], counts["conversations without a beginning"]) == (1, 0)


def test_rules_that_cannot_see_how_a_conversation_began_say_so():
    counts = Counter()
    said = reply([{"role": "user", "content": '{"task_id": "task_2"}'}], counts)
    assert said["name"] == "respond"
    assert counts["conversations without a beginning"] == 1
