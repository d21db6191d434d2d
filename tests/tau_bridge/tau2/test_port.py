"""Toolkits of inspect-evals, in an installation without the framework and all that it needs."""

import json
import subprocess
import sys

import pytest

SCRIPT = """
import importlib.util, json, sys
from hashlib import sha256
from importlib.machinery import PathFinder

LEFT_OUT = set(sys.argv[1:])

class Installed(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.partition(".")[0] in LEFT_OUT else super().find_spec(name, path)

sys.meta_path[sys.meta_path.index(PathFinder)] = Installed

from tau_bridge.tau2.data import open_source
from tau_bridge.tau2.domains import load_domain
from tau_bridge.tau2.environment import Environment
from tau_bridge.tau2.gold_replay import call_of

source, shown = open_source(None), {}
for name in ("airline", "banking_knowledge", "retail", "telecom"):
    domain = load_domain(source, name)
    said = [domain.agent_schemas, domain.user_schemas]
    for task_id in source.task_ids(name)[:10]:
        world, criteria = Environment(domain), source.task(name, task_id).evaluation_criteria
        calls = [call_of(action) for action in criteria.actions or ()]
        said.append([world.respond(call).content for call in calls])
        said.append(world.differences(Environment(domain)))
    shown[name] = sha256(json.dumps(said).encode()).hexdigest()
here = [name for name in ("inspect_ai", "toml") if importlib.util.find_spec(name)]
print(json.dumps([shown, here, [name for name in LEFT_OUT if name in sys.modules]]))
"""


def played(*left_out):
    """Hashes of all schemas and of what ten tasks' gold actions do, and which packages are seen."""
    command = [sys.executable, "-c", SCRIPT, *left_out]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@pytest.mark.usefixtures("package_source")
def test_tools_are_the_same_without_the_framework_that_they_are_written_for():
    whole, seen, _ = played()
    assert seen == ["inspect_ai", "toml"]
    alone, seen, imported = played(
        "inspect_ai", "toml", "datasets", "openai", "litellm", "tiktoken"
    )
    assert alone == whole
    assert seen == imported == []  # other code finds out that they are absent
