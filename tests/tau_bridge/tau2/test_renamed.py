"""Every official task in other names: no id that has another is left in what its user goes by."""

import json
from random import Random

import pytest

from tau_bridge.chaos.renaming import Vocabulary, draw_renaming
from tau_bridge.tau2.domains import load_domain
from tau_bridge.tau2.replay import new_world

pytestmark = [pytest.mark.official_data, pytest.mark.requirement("test:chaos")]


@pytest.mark.parametrize("name", ["airline", "retail", "telecom", "banking_knowledge"])
def test_ids_of_every_official_task_become_others_and_come_back(official_source, name):
    domain = load_domain(official_source, name)
    vocabulary = Vocabulary.of(official_source.database(name))
    untouched = []
    for task_id in official_source.task_ids(name):
        task = official_source.task(name, task_id)
        world = new_world(domain, task)
        record = task.model_dump(mode="json")
        tools = map(str, world.agent_tools)
        renaming = draw_renaming(
            vocabulary,
            random=Random(1),  # noqa: S311 - nothing secret is drawn
            task=record,
            public=[world.policy, *tools],
        )
        said = json.dumps(record["user_scenario"], ensure_ascii=False)
        seen = {}
        told = renaming(said, seen)
        assert renaming(told) == said
        firsts = [each for each in vocabulary.ids if each in said and renaming.is_first(each)]
        assert not [each for each in firsts if each in told]
        # Those that do not stand by themselves are part of another id.
        assert all(renaming(each) in told for each in firsts)
        if not seen:
            untouched.append(task_id)
    # In these tasks of banking the user gives no id, and a name that is a word elsewhere, or none.
    assert len(untouched) <= (26 if name == "banking_knowledge" else 0)
