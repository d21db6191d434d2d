"""Check agents that are running: the green agent, and a purple one if it is named.

    python scripts/smoke.py --green http://127.0.0.1:9009 --purple http://127.0.0.1:9010

Prints a line PASS or FAIL for each check. A token for the green agent is taken from the variable
GREENROOM_AUTH_TOKEN. Exit codes: 0 every check passed, 1 one did not, 2 the arguments cannot be
used, 3 an agent is not there.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from assessor import Agent, Answer, AssessorError

OK, CHECK_FAILED, ABSENT = 0, 1, 3
HELLO_S = 10.0
ROW = ("domain", "score", "max_score", "pass_rate", "task_rewards", "time_used")
BUNDLED = "builtin:oracle"


class CheckError(Exception):
    """A check did not pass. The message says what was found."""


class Smoke:
    """The checks. Each returns what it saw, or raises."""

    def __init__(self, green: Agent, purple: Agent | None, *, domain: str, tasks: int) -> None:
        self._green = green
        self._purple = purple
        self._domain = domain
        self._tasks = tasks

    def checks(self) -> list[tuple[str, Callable[[], str]]]:
        """Return the checks by name, in order."""
        checks = [("green: card", lambda: _card(self._green)), ("green: Hello", self._hello)]
        if self._purple is not None:
            purple = self._purple
            checks += [
                ("purple: card", lambda: _card(purple)),
                ("purple: an answer", lambda: _answers(purple)),
            ]
        return [*checks, ("green: an evaluation", self._evaluation)]

    def _hello(self) -> str:
        self._green.ask("Hello")  # waits until the service has loaded what it needs
        began = time.monotonic()
        answer = self._green.ask("Hello")
        took = time.monotonic() - began
        if not answer.text.strip():
            raise CheckError(f"the task is {answer.state}, and nothing is said")
        if took > HELLO_S:
            raise CheckError(f"the answer took {took:.1f} s, more than {HELLO_S:.0f} s")
        return f"{answer.state}: {_line(answer.text)}"

    def _evaluation(self) -> str:
        address = BUNDLED if self._purple is None else self._purple.url
        request = {
            "participants": {"agent": address},
            "config": {"domain": self._domain, "num_tasks": self._tasks},
        }
        answer = self._green.ask(json.dumps(request))
        row = _row(answer)
        if row.get("max_score_all") != self._tasks or row.get("failed") != 0:
            raise CheckError(
                f"{row.get('max_score_all')} trials of {self._tasks}, {row.get('failed')} failed: "
                f"{row.get('warnings')}"
            )
        return f"{row['score']:g} of {row['max_score']:g} scored trials of {address} passed"


def _card(agent: Agent) -> str:
    card = agent.card()
    named = {str(card.get("url")), *_interfaces(card)}
    if not card.get("name") or not any(url.startswith("http") for url in named):
        raise CheckError(f"it names no agent or no address: {json.dumps(card)[:200]}")
    return f"{card['name']} {card.get('version', '')} at {', '.join(sorted(named - {'None'}))}"


def _interfaces(card: Mapping[str, Any]) -> set[str]:
    listed = [*card.get("supportedInterfaces", ()), *card.get("additionalInterfaces", ())]
    return {str(each.get("url")) for each in listed}


def _answers(purple: Agent) -> str:
    answer = purple.say("Hello")
    if answer.state != "completed" or not answer.text.strip():
        raise CheckError(f"the task is {answer.state}: {_line(answer.text)!r}")
    return _line(answer.text)


def _row(answer: Answer) -> Mapping[str, Any]:
    if answer.state != "completed" or answer.data is None:
        raise CheckError(f"the task is {answer.state}: {_line(answer.text)}")
    missing = [key for key in ROW if key not in answer.data]
    if missing:
        raise CheckError(f"the result lacks {', '.join(missing)}")
    return answer.data


def _line(text: str) -> str:
    shown = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return shown if len(shown) <= 160 else f"{shown[:157]}..."


def run(smoke: Smoke) -> int:
    """Make the checks and print their lines; the exit code."""
    failed = 0
    for name, check in smoke.checks():
        try:
            print(f"PASS {name}: {check()}", flush=True)
        except (CheckError, AssessorError) as error:
            failed += 1
            print(f"FAIL {name}: {error}", flush=True)
    print("all checks passed" if not failed else f"{failed} checks failed")
    return CHECK_FAILED if failed else OK


def main(argv: Sequence[str] | None = None) -> int:
    """Check the agents; the exit code."""
    parser = argparse.ArgumentParser(description="Check a running green agent.")
    parser.add_argument("--green", default="http://127.0.0.1:9009", help="the green agent")
    parser.add_argument("--purple", help=f"an agent to be evaluated (default: {BUNDLED})")
    parser.add_argument("--domain", default="airline", help="domain of the evaluation")
    parser.add_argument("--num-tasks", type=int, default=2, help="tasks of the evaluation")
    parser.add_argument("--wait", type=float, default=30.0, help="seconds to wait for the cards")
    parser.add_argument("--timeout", type=float, default=300.0, help="longest silence, seconds")
    arguments = parser.parse_args(argv)
    token = os.environ.get("GREENROOM_AUTH_TOKEN", "").partition(",")[0].strip()
    try:
        green = Agent(arguments.green, token=token, timeout_s=arguments.timeout)
        purple = arguments.purple and Agent(arguments.purple, timeout_s=arguments.timeout)
        for agent in filter(None, (green, purple)):
            agent.wait(arguments.wait)
    except AssessorError as error:
        print(f"smoke: {error}", file=sys.stderr)
        return ABSENT
    smoke = Smoke(green, purple or None, domain=arguments.domain, tasks=arguments.num_tasks)
    return run(smoke)


if __name__ == "__main__":
    sys.exit(main())
