"""What the files of the deployment say, and what an evaluation in a test needs."""

import re
import shlex
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from adk_agent.core.model_choice import ModelChoice
from adk_agent.play.evaluation import EvaluationDeps
from adk_agent.requests.agentbeats import read_agentbeats
from adk_agent.requests.language.vocabulary import Vocabulary
from evals.driver import EvaluatorRegistry
from evals.latency import LatencyEvaluator
from tau_bridge.a2a.messenger import Messenger
from tau_bridge.benchmarks import open_benchmarks
from tests.fakes.runtime import manual_runtime

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def benchmarks():
    return open_benchmarks(lambda _: {})


@pytest.fixture(scope="session")
def read_json(benchmarks):
    """Reads an assessment as the platform sends it."""
    return partial(read_agentbeats, vocabulary=Vocabulary.of(benchmarks))


@pytest.fixture
def make_deps(tmp_path, benchmarks):
    """What an evaluation of bundled agents needs."""

    def make(**changes):
        evaluators = EvaluatorRegistry([LatencyEvaluator()])
        fields = {
            "benchmarks": benchmarks,
            "models": ModelChoice(),
            "runtime": manual_runtime(),
            "new_run_id": lambda: "run-1",
            "evaluators": evaluators,
            "team_evaluators": evaluators,
            "new_messenger": Messenger,
            "versions": {"greenroom": "test"},
            "results_dir": tmp_path / "results",
        }
        return EvaluationDeps(**{**fields, **changes})

    return make


@dataclass(frozen=True, kw_only=True)
class Instruction:
    """One instruction of a Dockerfile: its name, and what stands behind it on one line."""

    name: str
    value: str

    @property
    def flags(self):
        return [word for word in self.value.split() if word.startswith("--")]

    @property
    def words(self):
        """The arguments of COPY and the like, without flags."""
        return [word for word in self.value.split() if not word.startswith("--")]

    @property
    def command(self):
        """The command of RUN, without flags such as mounts."""
        return re.sub(r"^(--\S+\s+)*", "", self.value)


@dataclass(frozen=True, kw_only=True)
class Stage:
    """A stage: what it builds on, and its instructions."""

    name: str
    base: str
    instructions: tuple[Instruction, ...]

    def all(self, name):
        return [each for each in self.instructions if each.name == name]

    def last(self, name):
        return self.all(name)[-1].value

    @property
    def environment(self):
        words = [word for each in self.all("ENV") for word in shlex.split(each.value)]
        return dict(word.split("=", 1) for word in words)


def instructions_of(text):
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    joined = "\n".join(lines).replace("\\\n", " ")
    for line in joined.splitlines():
        if line.strip():
            name, _, value = line.strip().partition(" ")
            yield Instruction(name=name.upper(), value=" ".join(value.split()))


@pytest.fixture(scope="session")
def stages():
    """The stages of the Dockerfile by name."""
    found = {}
    for instruction in instructions_of((ROOT / "Dockerfile").read_text(encoding="utf-8")):
        if instruction.name == "FROM":
            base, _, name = instruction.words
            found[name] = (base, [])
        else:
            found[name][1].append(instruction)
    return {
        name: Stage(name=name, base=base, instructions=tuple(instructions))
        for name, (base, instructions) in found.items()
    }


@pytest.fixture(scope="session")
def lineage(stages):
    """A stage and those that it builds on, the first one first."""

    def lineage(name):
        stage = stages[name]
        below = lineage(stage.base) if stage.base in stages else []
        return [*below, stage]

    return lineage
