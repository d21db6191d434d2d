r"""Validate running containers, or processes, against data/ground_truth.json: labels and classes.

    python scripts/validate_ground_truth.py --green http://127.0.0.1:9009

Every scenario that is a trace goes through the command that scores traces. Every scenario that is a
team is served by a command, and the green agent, asked over A2A to give it an exercise, must report
the labels that the scenario has. The class follows from the labels that were found. A member that
nobody asks cannot be seen from outside: a team with such a one is started by the green agent itself,
which then knows all members. Both commands can be those of containers, on whose network the green
agent may call everybody:

    docker compose build
    docker compose up -d green
    export GREENROOM_ALLOWED_HOSTS=$(docker network inspect greenroom_default \
      -f '{{(index .IPAM.Config 0).Subnet}}')
    docker compose up -d green
    python scripts/validate_ground_truth.py --green http://127.0.0.1:9009 \
      --score-command "docker compose exec -T green greenroom score - --json --offline" \
      --team-command "docker run --rm --network greenroom_default --name team-{port} \
        -p 127.0.0.1:{port}:9010 -e AGENT={team} greenroom-purple:local --card-url {url}" \
      --team-url http://team-{port}:9010/

Prints a line PASS or FAIL with class and labels for each scenario. Exit codes: 0 all are right, 1
some are not, 2 the arguments cannot be used, 3 the green agent or a command is not there.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from assessor import Agent, AssessorError
from ground_truth import (
    CoordinationClass,
    GroundTruth,
    Scenario,
    TeamSource,
    TraceSource,
    class_of,
    read_ground_truth,
    trace_of,
)

OK, WRONG, USAGE, ABSENT = 0, 1, 2, 3
DATA = Path(__file__).resolve().parent.parent / "data" / "ground_truth.json"
EXERCISE = "ex01_return_with_fee"
SCORE = f"{shlex.quote(sys.executable)} -m adk_agent.cli.main score - --json --offline"
TEAM = f"{shlex.quote(sys.executable)} -m purple_agent {{team}} --port {{port}} --card-url {{url}}"
STOP_S = 10.0
SCORING_S = 600.0


class CommandError(Exception):
    """A command cannot be run, or ended with an error."""


class Tally:
    """Counts the scenarios and prints a line for each."""

    def __init__(self) -> None:
        self.wrong = 0
        self.right = 0

    def add(self, scenario: Scenario, found: Sequence[str] | None, problem: str = "") -> None:
        """Take in what was found for a scenario; None where that is nothing, because of a problem."""
        expected = _verdict(scenario.coordination_class, scenario.labels)
        seen = None if found is None else _verdict(class_of(found), found)
        if seen == expected:
            self.right += 1
            print(f"PASS {scenario.id}: {expected}", flush=True)
            return
        self.wrong += 1
        why = problem if seen is None else f"found {seen}"
        print(f"FAIL {scenario.id}: expected {expected}; {why}", flush=True)


def _verdict(name: CoordinationClass, labels: Sequence[str]) -> str:
    """Return a class and its labels, as in `high (balanced)`."""
    return f"{name} ({', '.join(sorted(labels)) or 'no label'})"


def score_traces(scenarios: Sequence[Scenario], command: str, tally: Tally) -> None:
    """Have a command score the traces, all at once.

    Raises:
        CommandError: it cannot be run, or prints no line for a trace.
    """
    lines = [_trace_line(scenario, scenario.source) for scenario in scenarios]
    try:
        done = subprocess.run(
            shlex.split(command),
            input="\n".join(lines),
            capture_output=True,
            text=True,
            timeout=SCORING_S,
            check=False,
        )
        found = [json.loads(line) for line in done.stdout.splitlines()]
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        raise CommandError(f"{command}: {error}") from error
    if done.returncode != 0 or len(found) != len(scenarios):
        raise CommandError(f"{command} ended with {done.returncode}: {done.stderr[-400:]}")
    for scenario, scored in zip(scenarios, found, strict=True):
        tally.add(scenario, scored.get("labels"), "it has no labels")


def _trace_line(scenario: Scenario, source: Any) -> str:
    if not isinstance(source, TraceSource):
        message = f"{scenario.id} is no trace"
        raise TypeError(message)
    line = {
        "id": scenario.id,
        "trace": trace_of(source, trace_id=scenario.id).model_dump(mode="json"),
    }
    return json.dumps(line if source.roster is None else {**line, "roster": source.roster})


def play_teams(
    scenarios: Sequence[Scenario], green: Agent, arguments: argparse.Namespace, tally: Tally
) -> None:
    """Serve each team by a command, and ask the green agent for its labels.

    Raises:
        CommandError: the command cannot be run.
    """
    for scenario in scenarios:
        if not isinstance(scenario.source, TeamSource):
            continue
        team = "+".join([f"team:{scenario.source.team}", *scenario.source.faults])
        try:
            with _address(team, scenario, arguments) as address:
                tally.add(scenario, *_labels(green, address))
        except AssessorError as error:
            tally.add(scenario, None, str(error))


def _address(
    team: str, scenario: Scenario, arguments: argparse.Namespace
) -> contextlib.AbstractContextManager[str]:
    if "isolated_member" in scenario.labels:
        return contextlib.nullcontext(f"builtin:{team}")
    return _served(team, arguments)


def _labels(green: Agent, address: str) -> tuple[list[str] | None, str]:
    request = {
        "participants": {"agent": address},
        "config": {"domain": "coordination", "task_ids": [EXERCISE]},
    }
    answer = green.ask(json.dumps(request))
    teams = (answer.data or {}).get("teams") or []
    if answer.state != "completed" or not teams:
        return None, f"the task is {answer.state}: {' '.join(answer.text.split())[:300]}"
    return list(teams[0]["labels"]), ""


@contextlib.contextmanager
def _served(team: str, arguments: argparse.Namespace) -> Iterator[str]:
    """Yield the address of a team while its command runs; this machine reaches it on the port, too."""
    port = _free_port()
    url = arguments.team_url.format(port=port)
    command = [
        word.format(team=team, port=port, url=url) for word in shlex.split(arguments.team_command)
    ]
    try:
        process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
    except OSError as error:
        raise CommandError(f"{shlex.join(command)}: {error}") from error
    try:
        with Agent(f"http://127.0.0.1:{port}/") as agent:
            agent.wait(arguments.wait)
        yield url
    finally:
        _stop(process)


def _stop(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(STOP_S)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _chosen(truth: GroundTruth, kind: str, only: Sequence[str] | None) -> list[Scenario]:
    return [
        scenario
        for scenario in truth.scenarios
        if scenario.source.kind == kind and (only is None or scenario.id in only)
    ]


def main(argv: Sequence[str] | None = None) -> int:
    """Validate; the exit code."""
    parser = argparse.ArgumentParser(description="Validate running agents against ground truth.")
    parser.add_argument("--green", help="the green agent; without it the teams are left out")
    parser.add_argument("--data", type=Path, default=DATA, help="the scenarios")
    parser.add_argument("--only", action="append", metavar="ID", help="a scenario; repeatable")
    parser.add_argument("--score-command", default=SCORE, help="scores traces from standard input")
    parser.add_argument(
        "--team-command", default=TEAM, help="serves a team; {team}, {port} and {url} are filled in"
    )
    parser.add_argument(
        "--team-url", default="http://127.0.0.1:{port}/", help="where the green agent reaches it"
    )
    parser.add_argument("--wait", type=float, default=60.0, help="seconds to wait for a card")
    parser.add_argument("--timeout", type=float, default=300.0, help="longest silence, seconds")
    arguments = parser.parse_args(argv)
    truth = read_ground_truth(json.loads(arguments.data.read_bytes()))
    known = {scenario.id for scenario in truth.scenarios}
    unknown = sorted(set(arguments.only or ()) - known)
    if unknown:
        print(f"validate: there is no scenario {unknown[0]!r}", file=sys.stderr)
        return USAGE
    tally = Tally()
    try:
        _validate(truth, arguments, tally)
    except (AssessorError, CommandError) as error:
        print(f"validate: {error}", file=sys.stderr)
        return ABSENT
    print(
        f"{tally.right} of {tally.right + tally.wrong} scenarios have the class and labels they should"
    )
    return WRONG if tally.wrong else OK


def _validate(truth: GroundTruth, arguments: argparse.Namespace, tally: Tally) -> None:
    traces = _chosen(truth, "trace", arguments.only)
    if traces:
        score_traces(traces, arguments.score_command, tally)
    teams = _chosen(truth, "team", arguments.only)
    if not teams:
        return
    if arguments.green is None:
        print(f"{len(teams)} teams were left out: name the green agent with --green")
        return
    token = os.environ.get("GREENROOM_AUTH_TOKEN", "").partition(",")[0].strip()
    with Agent(arguments.green, token=token, timeout_s=arguments.timeout) as green:
        green.wait(arguments.wait)
        play_teams(teams, green, arguments, tally)


if __name__ == "__main__":
    sys.exit(main())
