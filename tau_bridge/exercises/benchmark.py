"""ExercisesBenchmark: coordination exercises for teams, as a benchmark."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from evals.diagnosis import Diagnosis, diagnose_answer
from evals.outcome import TaskResult
from evals.trace import Trace
from tau_bridge.benchmark import (
    BASE_SPLIT,
    Benchmark,
    DomainInfo,
    Judge,
    PlayContext,
    Played,
    Revision,
    TaskInfo,
    TaskRef,
)
from tau_bridge.errors import BridgeError
from tau_bridge.exercises.questions import DOMAIN, exercise, exercises, exercises_revision
from tau_bridge.team_conversation import TeamConversation

if TYPE_CHECKING:
    from tau_bridge.a2a.conversation import Conversation

BASIS = ("COMMUNICATE",)


class ExercisesBenchmark(Benchmark):
    """Questions to a whole team; the answer is graded, and the calls between members watched."""

    name = "exercises"
    summary = "coordination exercises for teams of agents"
    position = 10
    examples = (
        "Evaluate the team at http://localhost:9010 on all coordination exercises",
        "Evaluate team:star5 on two coordination exercises",
    )

    spellings = dict.fromkeys(
        ("teamwork", "collaboration", "cooperation", "coordinate", "coordinates", "collaborate"),
        DOMAIN,
    )

    def domains(self) -> tuple[DomainInfo, ...]:
        """Return the one domain."""
        return (
            DomainInfo(
                name=DOMAIN,
                noun="exercises",
                components=BASIS,
                meanings={BASIS[0]: "the user was not told what had to be told"},
                needs=frozenset({"team"}),
            ),
        )

    def tasks(self, domain: str, split: str = BASE_SPLIT) -> Sequence[TaskInfo]:
        """Return all exercises."""
        del split
        return [
            TaskInfo(
                ref=self.ref(domain, each.id),
                title=each.title,
                passages={"question": each.prompt, "skills": _words(each.skills)},
                components=BASIS,
                attributes={"skills": ", ".join(each.skills)},
            )
            for each in exercises().values()
        ]

    def revision(self, domain: str) -> Revision:
        """Return a hash of the bundled exercises."""
        del domain
        return Revision(source="greenroom", revision=exercises_revision())

    async def play(self, ref: TaskRef, agent: Conversation, context: PlayContext) -> Played:
        """Send one message to the entry of the team, and take its answer."""
        asked = exercise(ref.id)
        prompt = asked.prompt + context.team.briefing()
        said = {"role": "user", "content": context.team.redact(prompt)}
        try:
            reply = await TeamConversation(agent, context.team).send(asked.prompt)
        except BridgeError as error:
            return Played(messages=[said], error=error, expected_answer=asked.answer)
        answer = reply.as_text()
        return Played(
            messages=[said, {"role": "assistant", "content": answer}],
            termination="answered",
            turns=1,
            answer=answer,
            expected_answer=asked.answer,
        )

    async def score(self, ref: TaskRef, played: Played, judge: Judge | None) -> TaskResult | None:
        """Score the answer by what it must and must not say."""
        del judge
        return None if played.answer is None else exercise(ref.id).grade(played.answer)

    def explain(
        self, ref: TaskRef, played: Played, result: TaskResult, trace: Trace
    ) -> Diagnosis | None:
        """Explain why the answer is not right."""
        del ref, trace
        return diagnose_answer(result, answer=played.answer or "")


def _words(names: Sequence[str]) -> str:
    return ", ".join(names).replace("_", " ")
