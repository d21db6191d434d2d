import json
from dataclasses import dataclass

import pytest

from tau_bridge.a2a.replies import Reply
from tau_bridge.benchmark import PlayContext
from tau_bridge.recorder import TraceRecorder
from tau_bridge.threats.benchmark import ThreatBenchmark
from tau_bridge.threats.cases import read_cases
from tests.fakes.runtime import manual_runtime


class Script:
    """A remote conversation that makes calls, one a turn, and then says its last words."""

    def __init__(self, calls, words):
        self._left = [
            *({"name": name, "arguments": arguments} for name, arguments in calls),
            {"name": "respond", "arguments": {"content": words}},
        ]
        self.heard = []

    async def send(self, text):
        self.heard.append(text)
        return Reply(
            text=json.dumps(self._left.pop(0)),
            data=(),
            step_id=None,
            context_id="c",
            task_id=None,
            state=None,
            metadata={},
            source="message",
        )


@dataclass
class Outcome:
    heard: list
    played: object
    result: object
    diagnosis: object

    @property
    def verdicts(self):
        return {each.name: each.outcome.value for each in self.result.components}


@pytest.fixture(scope="session")
def cases():
    return read_cases()


@pytest.fixture(scope="session")
def benchmark():
    return ThreatBenchmark()


@pytest.fixture
def play(benchmark):
    """Plays a case with scripted calls and words."""

    async def play(case_id, calls, words, *, max_steps=200):
        ref, runtime, agent = (
            benchmark.ref(benchmark.name, case_id),
            manual_runtime(),
            Script(calls, words),
        )
        recorder = TraceRecorder("t", runtime=runtime)
        context = PlayContext(
            seed=1,
            max_steps=max_steps,
            clock=runtime.clock,
            recorder=recorder,
            address="http://agent.test/",
            team=None,
        )
        played = await benchmark.play(ref, agent, context)
        result = await benchmark.score(ref, played, None)
        diagnosis = benchmark.explain(ref, played, result, recorder.trace())
        return Outcome(agent.heard, played, result, diagnosis)

    return play
