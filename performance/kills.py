"""Whether anything is lost where processes are killed: python performance/kills.py [WHAT ...]

Real programs, killed at random moments, by signal and by what is killed:

`command`: `greenroom run` gets SIGINT, SIGTERM or SIGKILL from its start to its end. It has to end
by 130, 143 or the signal, with a word and no traceback, and `greenroom resume` has to come to the
rewards of a run that nobody disturbed, without playing a finished trial again.

`service`: `greenroom serve` gets SIGKILL or SIGTERM while evaluations run. Started again, it has to
know each of them as ended, with every finished trial; `greenroom resume` as above.

`player`: the process of the service that plays gets SIGKILL. The service has to go on, to say of
each evaluation that it failed, with its run, and to play the next one.

Prints the table of kills; exits with 1 where something was wrong.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import httpx

TASKS = ("create_task_1", "update_task_1", "impossible_task_1")
TRIALS = 12
ASKED = {
    "participants": {"agent": "builtin:echo"},
    "config": {"domain": "mock", "task_ids": TASKS, "num_trials": TRIALS, "max_concurrency": 2},
}
PATIENCE_S = 120
AT_ONCE = 3
HEADERS = {"A2A-Version": "1.0"}
PLAYER = b"adk_agent.service.playing.worker"
ENDS = {signal.SIGINT: {130}, signal.SIGTERM: {130, 143}, signal.SIGKILL: {-9}}


def greenroom(*words: str, results: Path, **options: object) -> subprocess.Popen[str]:
    """Start a command of greenroom, without a key."""
    command = [sys.executable, "-m", "adk_agent.cli.main", *words, "--results-dir", str(results)]
    return subprocess.Popen(command, text=True, start_new_session=True, **options)  # type: ignore[call-overload,no-any-return]


def played(results: Path) -> tuple[int, str]:
    """Run the evaluation undisturbed, or resume the newest run; return exit code and stderr."""
    begun = any(results.glob("*/manifest.json"))
    words = ["resume"] if begun else ["run", json.dumps(ASKED), "--offline"]
    process = greenroom(*words, results=results, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    _, said = process.communicate(timeout=PATIENCE_S)
    return process.returncode, said


def rewards(run: Path) -> list[tuple[object, ...]]:
    """Return what a report says of each trial."""
    report = json.loads((run / "report.json").read_text())
    keys = ("task_id", "trial", "seed", "status", "reward")
    return sorted(tuple(row[key] for key in keys) for row in report["trials"])


def whole_lines(run: Path) -> bytes:
    """Return the finished trials of a run."""
    path = run / "trials.jsonl"
    text = path.read_bytes() if path.exists() else b""
    return text[: text.rfind(b"\n") + 1]


def resumed(results: Path, run: Path, expected: list[tuple[object, ...]]) -> str | None:
    """Resume a run to its end; say what is wrong then."""
    before = whole_lines(run)
    if not (run / "report.json").exists() or json.loads((run / "status.json").read_text())[
        "state"
    ] not in ("complete", "incomplete"):
        process = greenroom("resume", run.name, results=results, stdout=-1, stderr=-1)
        _, said = process.communicate(timeout=PATIENCE_S)
        if process.returncode != 0:
            return f"resume ended with {process.returncode}: {said.strip()[-300:]}"
    finished = [line for line in before.splitlines() if b'"status":"failed"' not in line]
    after = whole_lines(run).splitlines()
    if lost := sum(line not in after for line in finished):
        return f"{lost} finished trials were lost or played again"
    return None if rewards(run) == expected else "the rewards differ"


def command(moment: random.Random, by: signal.Signals, seconds: float, expected) -> str | None:
    """Disturb one run on the command line."""
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder)
        process = greenroom(
            "run", json.dumps(ASKED), "--offline", results=results, stdout=-1, stderr=-1
        )
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(moment.uniform(0.05, seconds))
        process.send_signal(by)
        out, said = process.communicate(timeout=PATIENCE_S)
        if process.returncode != 0 and process.returncode not in ENDS[by]:
            if not (process.returncode == -by and not said):  # Python itself had not begun
                return f"ended with {process.returncode}: {said.strip()[-300:]}"
            return f"a bare {by.name}: {process.returncode}"
        if "Traceback" in said + out:
            return f"a traceback: {said.strip()[-300:]}"
        if process.returncode in (130, 143) and "greenroom: " not in said:
            return "no word"
        runs = [path.parent for path in results.glob("*/manifest.json")]
        return resumed(results, runs[0], expected) if runs else None


@contextlib.contextmanager
def served(results: Path) -> Iterator[tuple[subprocess.Popen[str], httpx.Client]]:
    """Start a service on a port of its own, with a store of tasks; yields it and a client."""
    environment = {**os.environ, "GREENROOM_RESULTS_DIR": str(results), "GREENROOM_OFFLINE": "1"}
    log = results / "service.log"
    with log.open("a") as err:
        process = subprocess.Popen(
            [sys.executable, "-m", "adk_agent", "--port", "0", "--task-store", f"sqlite:{results}/t.db"],
            stderr=err, env=environment, text=True, start_new_session=True,
        )  # fmt: skip
    try:
        until, address = time.monotonic() + PATIENCE_S, ""
        while not address and time.monotonic() < until:
            lines = [line for line in log.read_text().splitlines() if "listens on" in line]
            if process.poll() is not None:
                raise RuntimeError(f"the service did not start: {log.read_text()[-300:]}")
            if len(lines) > served.lives.get(results, 0):
                address = lines[-1].rpartition("names ")[2]
            time.sleep(0.05)
        served.lives[results] = served.lives.get(results, 0) + 1
        with httpx.Client(base_url=address, timeout=PATIENCE_S) as http:
            yield process, http
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()


served.lives = {}  # type: ignore[attr-defined]


def call(http: httpx.Client, method: str, **params: object) -> dict[str, object]:
    """Call the service; it has to answer."""
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    reply = http.post("/", json=body, headers=HEADERS)
    try:
        answer = reply.json()
    except ValueError:
        raise RuntimeError(f"{method}: HTTP {reply.status_code}: {reply.text[:300]}") from None
    if "result" not in answer:
        raise RuntimeError(f"{method}: {answer}")
    return answer["result"]


def begin(http: httpx.Client) -> dict[str, object]:
    """Begin an evaluation."""
    parts = [{"text": json.dumps(ASKED)}]
    message = {"messageId": str(uuid.uuid4()), "role": "ROLE_USER", "parts": parts}
    configuration = {"returnImmediately": True}
    return call(http, "SendMessage", message=message, configuration=configuration)["task"]


def ended(http: httpx.Client, task, within_s: float = PATIENCE_S):
    """Wait until a task has ended."""
    until = time.monotonic() + within_s
    while True:
        found = call(http, "GetTask", id=task["id"])
        if found["status"]["state"] not in ("TASK_STATE_SUBMITTED", "TASK_STATE_WORKING"):
            return found
        if time.monotonic() > until:
            raise RuntimeError(f"still {found['status']['state']}")
        time.sleep(0.1)


def service(moment: random.Random, by: signal.Signals, seconds: float, expected) -> str | None:
    """Kill a service with evaluations under way, and start it again."""
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder)
        with served(results) as (process, http):
            tasks = [begin(http) for _ in range(AT_ONCE)]
            time.sleep(moment.uniform(0, seconds))
            process.send_signal(by)
            code = process.wait(PATIENCE_S)
            if code != (0 if by is signal.SIGTERM else -by):
                return f"the service ended with {code}"
        with served(results) as (process, http):
            for task in tasks:
                found = ended(http, task, within_s=20)
                state = found["status"]["state"]
                if state not in (
                    "TASK_STATE_FAILED",
                    "TASK_STATE_CANCELED",
                    "TASK_STATE_COMPLETED",
                ):
                    return f"a task is {state}"
        log = (results / "service.log").read_text()
        if "Traceback" in log:
            return f"a traceback in the log: {log[log.index('Traceback') :][-1500:]}"
        runs = [path.parent for path in results.glob("*/manifest.json")]
        return next(filter(None, (resumed(results, run, expected) for run in runs)), None)


def player(moment: random.Random, by: signal.Signals, seconds: float, expected) -> str | None:
    """Kill the process that plays, and evaluate again with the same service."""
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder)
        with served(results) as (process, http):
            tasks = [begin(http) for _ in range(AT_ONCE)]
            time.sleep(moment.uniform(0, seconds))
            [pid] = player_of(process.pid)
            os.kill(pid, by)
            states = Counter(ended(http, task)["status"]["state"] for task in tasks)
            if set(states) - {"TASK_STATE_FAILED", "TASK_STATE_COMPLETED"}:
                return f"tasks ended as {dict(states)}"
            again = ended(http, begin(http))
            if again["status"]["state"] != "TASK_STATE_COMPLETED":
                return f"the next evaluation: {json.dumps(again['status'])[:400]}"
        runs = [path.parent for path in results.glob("*/manifest.json")]
        return next(filter(None, (resumed(results, run, expected) for run in runs)), None)


def player_of(service_pid: int) -> list[int]:
    """Return the processes below the service that play."""
    children = Path(f"/proc/{service_pid}/task/{service_pid}/children").read_text().split()
    threads = Path(f"/proc/{service_pid}/task").iterdir()
    children += [pid for each in threads for pid in (each / "children").read_text().split()]
    return sorted(
        {int(pid) for pid in children if PLAYER in Path(f"/proc/{pid}/cmdline").read_bytes()}
    )


SERIES = {
    "command": (command, (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)),
    "service": (service, (signal.SIGKILL, signal.SIGTERM)),
    "player": (player, (signal.SIGKILL,)),
}


def main() -> int:
    """Kill as often as was asked for; print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", nargs="*", metavar="WHAT")
    parser.add_argument("--kills", type=int, default=3, help="of each signal to each")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder)
        began = time.monotonic()
        code, said = played(results)
        seconds = time.monotonic() - began
        assert code == 0, said
        expected = rewards(next(results.glob("*/manifest.json")).parent)
    print(f"undisturbed: {len(expected)} trials in {seconds:.1f} s", flush=True)
    problems = 0
    for what in options.what or SERIES:
        kill, signals = SERIES[what]
        for by in signals:
            moment = random.Random(f"{options.seed} {what} {by}")  # noqa: S311
            told: Counter[str] = Counter()
            for _ in range(options.kills):
                try:
                    wrong = kill(moment, by, seconds, expected)
                except Exception as error:  # noqa: BLE001 - it is one row of the table
                    wrong = f"{type(error).__name__}: {error}"
                told[wrong or "nothing lost"] += 1
            problems += options.kills - told["nothing lost"]
            print(f"{what:8} {by.name:8} {options.kills} kills: {dict(told)}", flush=True)
    return int(problems > 0)


if __name__ == "__main__":
    raise SystemExit(main())
