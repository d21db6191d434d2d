"""A tiny checkout with the real worker, and an interpreter that speaks what a test says."""

import json
import stat
import sys
from pathlib import Path

import pytest

from tau_bridge.benchmark import PlayContext, UserModel
from tau_bridge.recorder import TraceRecorder
from tau_bridge.tau2.benchmark import Tau2Benchmark
from tau_bridge.tau2.data import open_source
from tau_bridge.tau2.engine.engine import OfficialEngine
from tau_bridge.tau2.engine.process import EngineLimits
from tests.fakes.runtime import manual_runtime

CHECKOUT = Path(__file__).parents[3] / "fakes" / "checkout"
LIMITS = EngineLimits(start_s=60, silence_s=60, ping_s=30)


def script(path, text):
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


@pytest.fixture(scope="session")
def belfry(tmp_path_factory):
    """A folder of data with one task, to ring a bell once, as the tiny engine scores it."""
    root = tmp_path_factory.mktemp("belfry")
    domain = root / "tau2" / "domains" / "mock"
    domain.mkdir(parents=True)
    criteria = {"actions": [], "reward_basis": ["DB"]}
    task = {"id": "a", "user_scenario": {"instructions": "Ring."}, "evaluation_criteria": criteria}
    (domain / "tasks.json").write_text(json.dumps([task]))
    (domain / "db.json").write_text("{}")
    (domain / "policy.md").write_text("Ring once.")
    return root


@pytest.fixture(scope="session")
def interpreter(tmp_path_factory):
    """Makes an interpreter that finds the packages of a folder."""

    def make(source=CHECKOUT / "src"):
        command = f'PYTHONPATH={source} PYTHONDONTWRITEBYTECODE=1 exec {sys.executable} "$@"'
        path = tmp_path_factory.mktemp("interpreter") / "python"
        return script(path, f"#!/bin/sh\n{command}\n")

    return make


@pytest.fixture(scope="session")
def bell(belfry, interpreter):
    """The benchmark with the tiny engine, whose process all tests share."""
    engine = OfficialEngine(interpreter(), belfry, LIMITS)
    yield Tau2Benchmark(open_source(belfry), engine).with_options({"engine": "official"})
    engine.release()


@pytest.fixture
def speaker(tmp_path, belfry):
    """Makes an interpreter whose worker is this Python code; it knows `say` and `identity`."""

    def make(program, /, **claims):
        identity = {
            "protocol": 1, "tau2": "1.0.1", "python": "3.12.0", "package": "/there/tau2",
            "data_dir": str(belfry), "code": "sha256:1", "data": {"mock": "sha256:2"}, **claims,
        }  # fmt: skip
        head = (
            f"#!{sys.executable}\nimport json, os, signal, sys\n"
            f"identity = json.loads({json.dumps(identity)!r})\n"
            "def say(message, /, **fields):\n"
            "    print(json.dumps({'type': message, **fields}), flush=True)\n"
            "if '--probe' in sys.argv: say('identity', **identity); sys.exit()\n"
            "ready = dict(identity, domains=['mock'], features=['fork', 'runner', 'retrieval'])\n"
        )
        return script(tmp_path / "speaker", head + program)

    return make


class Agent:
    """A remote agent that says these things, the last one again and again."""

    def __init__(self, *said):
        self.said = list(said)
        self.heard = []

    async def send(self, text):
        self.heard.append(text)
        words = self.said.pop(0) if len(self.said) > 1 else self.said[0]
        if isinstance(words, Exception):
            raise words
        return Said(words)


class Said:
    data = ()
    step_id = None

    def __init__(self, text):
        self.text = text


def call(name):
    return json.dumps({"name": name, "arguments": {}})


def say(text):
    return json.dumps({"name": "respond", "arguments": {"content": text}})


@pytest.fixture
def opened(belfry):
    """Opens the benchmark with the engine of an interpreter."""
    made = []

    def open_with(python, *, limits=LIMITS, **options):
        engine = OfficialEngine(python, belfry, limits)
        benchmark = Tau2Benchmark(open_source(belfry), engine)
        made.append(engine)
        return benchmark.with_options({"engine": "official", **options})

    yield open_with
    for each in made:
        each.release()


@pytest.fixture
def play():
    """Plays a task; returns what was played, and the trace."""

    async def played(benchmark, agent, *, task="a", completion=None, max_steps=30):
        recorder = TraceRecorder("t", runtime=manual_runtime())
        context = PlayContext(
            seed=1,
            max_steps=max_steps,
            clock=recorder.runtime.clock,
            recorder=recorder,
            address="http://agent.test/",
            team=None,
            user_model=completion and UserModel(name="test/user", completion=completion),
        )
        result = await benchmark.play(benchmark.ref("mock", task), agent, context)
        return result, recorder.trace()

    return played
