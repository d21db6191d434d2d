"""Whether attribution finds a planted fault: python performance/attribution_teams.py [--verbose]

Every bundled team answers every coordination exercise in this process, once as it is and then once
for each call between its members and each kind of fault, planted in the reply to that call:

- `wrong_value`: one value of the reply is changed to another of the same form;
- `refusal`: the member declines;
- `silence`: the reply is empty;
- `invented`: the member gives a value that nothing it was told supports.

The site is known, and counts where the team answered rightly without the fault and wrongly with it.
Prints the share of these trials in which attribution names the agent and the step of the site, by
team and by fault. The detector was written beside this harness: its figures are seen ones.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, get_args

from evals.attribution.model import Attribution
from evals.attribution.outcomes import log_of
from evals.attribution.ranking import attribute
from evals.base import EvaluationContext
from evals.outcome import Scored
from evals.reward import is_success, reward_of
from evals.trace import CALLER_KIND, USER, CallType, InteractionStep, Provenance, Trace
from purple_agent.errors import MemberFailedError, PeerFailedError
from purple_agent.teams.member import RunConditions, TeamMember
from purple_agent.teams.peers import PeerReply
from purple_agent.teams.plan import Team
from purple_agent.teams.rosters import TEAMS
from purple_agent.teams.tracing import Place
from tau_bridge.exercises.questions import Exercise, exercises

FAULTS = ("wrong_value", "refusal", "silence", "invented")
_REFUSAL = "I am sorry, but I cannot help with that."
_ROW = re.compile(r"^- ([^:\n]+): (.+)$", re.MULTILINE)
_BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
MAX_CALLS = 400
"""Calls between members in one answer; a team that makes more is not played."""

Reports = Literal["right", "faulty", "none"]
"""What members report of their own look-ups: what they found, what was planted, or nothing."""
Plant = Callable[[str, random.Random], str | None]
"""Takes a reply and returns what the caller gets in its place; None where nothing can be planted."""


@dataclass
class Played:
    """One answer of a team."""

    trace: Trace
    answer: str
    passed: bool
    context: EvaluationContext
    planted: str | None = None
    """The step at which the fault took effect."""


@dataclass
class _Wire:
    """The calls of one exercise, as the assessor's proxy would see them."""

    team: Team
    plant_at: int | None
    plant: Plant | None
    draw: random.Random
    reports: Reports
    steps: list[InteractionStep] = field(default_factory=list)
    members: dict[str, TeamMember] = field(default_factory=dict)
    open: dict[str, str] = field(default_factory=dict)
    calls: int = 0
    seconds: int = 0
    planted: str | None = None

    def tick(self) -> datetime:
        self.seconds += 1
        return _BEGIN + timedelta(seconds=self.seconds)


class _Peers:
    """The other members, in this process. Has the methods of `purple_agent.teams.peers.Peers`."""

    def __init__(self, caller: str, wire: _Wire) -> None:
        self._caller = caller
        self._wire = wire

    def home(self, callee: str) -> str:
        return f"http://{callee}.example"

    async def ask(self, callee: str, text: str, *, place: Place, context_id: str) -> PeerReply:
        wire = self._wire
        wire.calls += 1
        number = wire.calls
        if number > MAX_CALLS:
            raise PeerFailedError("too many calls")
        begun = wire.tick()
        step_id = f"call-{number}"
        at = len(wire.steps)
        above = place.step.rpartition(".")[0]
        parent = wire.open.get(above, "root")
        wire.open[place.step] = step_id
        try:
            reply = await wire.members[callee].reply(text, place=place, context_id=context_id)
        except MemberFailedError as error:
            failed = _step(
                step_id, self._caller, callee, text, None, begun, wire.tick(), parent, str(error)
            )
            wire.steps.insert(at, failed)
            raise PeerFailedError(str(error)) from error
        said = reply.text
        if wire.plant_at == number and wire.plant is not None:
            changed = wire.plant(said, wire.draw)
            if changed is not None:
                wire.planted, said = step_id, changed
        wire.steps.insert(
            at,
            _step(step_id, self._caller, callee, text, said, begun, wire.tick(), parent),
        )
        steps = reply.trace["steps"] if wire.reports != "none" else []
        if wire.reports == "faulty" and wire.planted == step_id:
            steps = [_as_said(step, reply.text, said) for step in steps]
        wire.steps.extend(_tools(steps, step_id, wire))
        return PeerReply(text=said, steps=steps)


def _step(
    step_id: str,
    caller: str,
    callee: str,
    request: str,
    response: str | None,
    begun: datetime,
    ended: datetime,
    parent: str | None,
    error: str | None = None,
    **attributes: str,
) -> InteractionStep:
    return InteractionStep(
        step_id=step_id,
        trace_id="planted",
        parent_step_id=parent,
        call_type=CallType.AGENT,
        caller=caller,
        callee=callee,
        start_time=begun,
        end_time=ended,
        latency_ms=(ended - begun).total_seconds() * 1000,
        request_text=request,
        response_text=response,
        error=error,
        additional_attributes=attributes,
    )


def _as_said(step: Any, found: str, said: str) -> Any:
    """Return a reported look-up with the values that a faulty member gave for those it found."""
    if step.get("call_type") != "TOOL":
        return step
    attributes = dict(step["additional_attributes"])
    changed = dict(_ROW.findall(said))
    for name, value in _ROW.findall(found):
        if name in changed:
            attributes["response"] = attributes["response"].replace(
                f"{name}: {value}", f"{name}: {changed[name]}"
            )
    return {**step, "additional_attributes": attributes}


def _tools(steps: Sequence[Any], parent: str, wire: _Wire) -> Iterator[InteractionStep]:
    """Yield the look-ups that a member itself reports, not those of the members below it."""
    for number, step in enumerate(steps):
        if step.get("call_type") == "TOOL" and not step.get("parent_step_id"):
            yield InteractionStep(
                step_id=f"{parent}.tool-{number}",
                trace_id="planted",
                parent_step_id=parent,
                call_type=CallType.TOOL,
                caller=step["additional_attributes"]["caller"],
                callee=step["step_action"]["tool_invocation"]["tool_name"],
                provenance=Provenance.REPORTED,
                response_text=step["additional_attributes"]["response"],
            )


async def play(
    team: Team,
    exercise: Exercise,
    *,
    plant_at: int | None = None,
    plant: Plant | None = None,
    seed: int = 0,
    reports: Reports = "right",
) -> Played:
    """Let a team answer an exercise, with a fault in the reply to one call."""
    draw = random.Random(f"{team.name}/{exercise.id}/{plant_at}/{seed}")  # noqa: S311
    wire = _Wire(team=team, plant_at=plant_at, plant=plant, draw=draw, reports=reports)
    conditions = RunConditions(clock=lambda: 0.0, new_id=lambda: "planted", slow_s=0.0)
    for member in team.members:
        peers: Any = _Peers(member.name, wire)
        wire.members[member.name] = TeamMember(member, team, peers, conditions)
    begun = wire.tick()
    reply = await wire.members[team.entry].reply(exercise.prompt, place=None, context_id="c")
    root = _step(
        "root", "green-agent", team.entry, exercise.prompt, reply.text, begun, wire.tick(), None,
        **{CALLER_KIND: USER},
    )  # fmt: skip
    trace = Trace(trace_id="planted", steps=(root, *wire.steps))
    result = exercise.grade(reply.text)
    outcome = reward_of(result)
    return Played(
        trace=trace,
        answer=reply.text,
        passed=isinstance(outcome, Scored) and is_success(outcome.value),
        context=EvaluationContext(
            trace=trace,
            result=result,
            roster=team.roster,
            answer=reply.text,
            expected_answer=exercise.answer,
        ),
        planted=wire.planted,
    )


def wrong_value(text: str, draw: random.Random) -> str | None:
    """Change one value of a reply to another of the same form."""
    rows = list(_ROW.finditer(text))
    if not rows:
        return None
    row = draw.choice(rows)
    changed = _other(row[2], draw)
    return None if changed is None else f"{text[: row.start(2)]}{changed}{text[row.end(2) :]}"


def invented(text: str, draw: random.Random) -> str | None:
    """Add a value of a name that other members find, without any ground."""
    name = draw.choice(("refund", "total", "shipping", "compensation", "points earned", "arrival"))
    value = (
        "2026-12-24" if name == "arrival" else f"{draw.randint(200, 990)}.{draw.randint(10, 99)}"
    )
    if name == "points earned":
        value = str(draw.randint(1000, 9000))
    rows = [
        line
        for line in text.splitlines()
        if line.startswith("- ") and not line.startswith(f"- {name}:")
    ]
    return "\n".join(["Known so far:", *rows, f"- {name}: {value}"])


def _other(value: str, draw: random.Random) -> str | None:
    words = {
        "accepted": "refused",
        "refused": "accepted",
        "covered": "not covered",
        "not covered": "covered",
    }
    if value in words:
        return words[value]
    digits = [found.start() for found in re.finditer(r"\d", value)]
    if re.fullmatch(r"\d{4}-\d{2}-\d{2}", value):
        day = datetime.fromisoformat(value) + timedelta(days=draw.choice((-45, -17, 23, 61)))
        return day.date().isoformat()
    if not digits:
        return None
    at = digits[0]
    digit = draw.choice([d for d in "123456789" if d != value[at]])
    return f"{value[:at]}{digit}{value[at + 1 :]}"


PLANTS: dict[str, Plant] = {
    "wrong_value": wrong_value,
    "refusal": lambda text, draw: _REFUSAL,
    "silence": lambda text, draw: "",
    "invented": invented,
}


@dataclass(frozen=True)
class Case:
    """One planted fault that changed the outcome, and what attribution said about it."""

    team: str
    exercise: str
    fault: str
    agent: str
    step_id: str
    attribution: Attribution
    played: Played

    @property
    def agent_right(self) -> bool:
        return self.attribution.agent == self.agent

    @property
    def step_right(self) -> bool:
        named = self.attribution.candidates
        return bool(named) and named[0].step_id == self.step_id


async def cases(
    teams: Sequence[str], wanted: Sequence[Exercise], *, reports: Reports = "right", seed: int = 0
) -> list[Case]:
    """Plant every fault at every call, and attribute what came out wrong."""
    found = []
    for name in teams:
        team = TEAMS[name]
        for exercise in wanted:
            clean = await play(team, exercise, reports=reports)
            if not clean.passed:
                continue
            calls = sum(step.call_type is CallType.AGENT for step in clean.trace.steps) - 1
            for at in range(1, calls + 1):
                for fault, plant in PLANTS.items():
                    played = await play(
                        team, exercise, plant_at=at, plant=plant, seed=seed, reports=reports
                    )
                    if played.passed or played.planted is None:
                        continue
                    site = next(s for s in played.trace.steps if s.step_id == played.planted)
                    found.append(
                        Case(
                            team=name,
                            exercise=exercise.id,
                            fault=fault,
                            agent=site.callee,
                            step_id=site.step_id,
                            attribution=attribute(log_of(played.context)),
                            played=played,
                        )
                    )
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--team", action="append", choices=TEAMS, help="only this team; may be repeated"
    )
    parser.add_argument("--exercises", type=int, default=16, help="the first so many (default 16)")
    parser.add_argument(
        "--reports",
        choices=get_args(Reports),
        default="right",
        help="what members report of their look-ups: what they found (the fault lies between them "
        "and their callers), what was planted (the fault is their own), or nothing",
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--verbose", action="store_true", help="print each case that is missed")
    args = parser.parse_args()
    wanted = list(exercises().values())[: args.exercises]
    found = asyncio.run(
        cases(args.team or list(TEAMS), wanted, reports=args.reports, seed=args.seed)
    )
    for title, key in (("team", lambda c: c.team), ("fault", lambda c: c.fault)):
        counts: dict[str, Counter[str]] = {}
        for case in found:
            each = counts.setdefault(key(case), Counter())
            each.update(n=1, agent=case.agent_right, step=case.step_right)
        for name, each in counts.items():
            print(
                f"{title:6} {name:12} {each['n']:5} {each['agent'] / each['n']:7.1%} {each['step'] / each['n']:7.1%}"
            )
    n = len(found)
    agent, step = sum(c.agent_right for c in found), sum(c.step_right for c in found)
    print(f"all {n} agent {agent / n:.1%} step {step / n:.1%}")
    if args.verbose:
        for case in found:
            if not (case.agent_right and case.step_right):
                named = case.attribution.candidates[:2]
                print(case.team, case.exercise, case.fault, case.agent, case.step_id)
                for each in named:
                    print(
                        "    ",
                        each.agent,
                        each.step_id,
                        each.score,
                        [(s.cue, s.weight, s.reason[:140]) for s in each.signs],
                    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
