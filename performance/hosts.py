"""More than one machine, and what breaks between them: python performance/hosts.py [SCENARIO ...]

Makes five hosts on this machine (Linux, root, iproute2): the head of a Ray cluster, two workers with
two CPUs each, the host where `greenroom run --executor ray` is started, and one with an agent. Each
scenario is a new cluster and a new run:

  undisturbed   nothing happens
  cut           a worker's cable is pulled in the middle, and stays so
  blink         the same, and the cable is back after 15 s
  back          the same, and the cable is back after 100 s, when Ray has given the host up
  off           a worker loses its power
  head          Ray's processes on the head are killed; the run is resumed with a new cluster
  headoff       the head loses its power; the same
  driver        the process of the run is killed; it is resumed

Afterwards the record on disk has to hold every trial once, with the status, reward, turns and
messages that one process comes to with the same seed. Prints a row each; exits with 1 where something was
wrong or took longer than its bound, and with 2 where hosts cannot be made.
"""

import argparse
import contextlib
import json
import os
import signal
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from _hosts import LabError, check_that_hosts_can_be_made, network, until

PORT, AGENT_PORT = 6379, 9010
TASKS = 100
AT_ONCE = 40
CPUS = 2
OBJECTS = 80 * 2**20
REPOSITORY = Path(__file__).resolve().parent.parent
NAMES = ("head", "worker1", "worker2", "driver", "agent")
BOUND_S = 240
"""Seconds that a scenario may take longer than the undisturbed run of one process."""
GONE_S = 30
"""Seconds within which workers of a driver that was killed have to be gone."""


def write_tasks(folder):
    """Tasks of one turn or two, of which the reference agent solves two in three."""
    domain = folder / "tau2" / "domains" / "mock"
    domain.mkdir(parents=True)
    tasks = []
    for number in range(TASKS):
        title = f"Meeting {number}"
        expected = "Lunch" if number % 3 == 0 else title
        action = {
            "action_id": "create",
            "name": "create_task",
            "arguments": {"user_id": "user_1", "title": expected},
        }
        tasks.append(
            {
                "id": f"task_{number}",
                "user_scenario": {"instructions": f"Create a task called {title} for user_1."},
                "evaluation_criteria": {"actions": [action], "reward_basis": ["DB"]},
            }
        )
    users = {"user_1": {"user_id": "user_1", "name": "A User", "tasks": []}}
    (domain / "tasks.json").write_text(json.dumps(tasks))
    (domain / "db.json").write_text(json.dumps({"tasks": {}, "users": users}))
    (domain / "policy.md").write_text("Be kind.")


class Lab:
    """The hosts, and what runs on them."""

    def __init__(self, hosts, folder, trials):
        self.hosts = hosts
        self.trials = trials
        self.driver = hosts["driver"]
        self.results = self.driver.folder / "results"
        self.environment = {
            **os.environ,
            "TAU2_DATA_DIR": str(folder / "data"),
            "RAY_ADDRESS": "",
            "RAY_USAGE_STATS_ENABLED": "0",
            "PYTHONPATH": str(REPOSITORY),
        }

    def serve_agent(self):
        agent = self.hosts["agent"]
        words = ("reference", "--host", agent.address, "--port", AGENT_PORT)
        log = (agent.folder / "agent.log").open("w")
        process = agent.start(
            sys.executable, "-m", "purple_agent", *words, env=self.environment, stdout=log, stderr=log
        )
        card = f"http://{agent.address}:{AGENT_PORT}/.well-known/agent-card.json"
        code = f"import urllib.request as u; u.urlopen({card!r}, timeout=2)"

        def answers():
            with contextlib.suppress(RuntimeError):
                self.driver.run(sys.executable, "-c", code)
                return True

        until(answers, 60, "the agent does not answer")
        return process

    def start_ray(self):
        """A cluster of all hosts but the agent's."""
        head, *others = (self.hosts[name] for name in ("head", "worker1", "worker2", "driver"))
        self._ray(head, "--head", f"--port={PORT}", "--include-dashboard=false", cpus=0)
        for host in others:
            cpus = 0 if host is self.driver else CPUS
            self._ray(host, f"--address={head.address}:{PORT}", cpus=cpus)

    def _ray(self, host, *words, cpus):
        host.run(
            Path(sys.executable).with_name("ray"), "start", *words,
            f"--node-ip-address={host.address}", f"--num-cpus={cpus}",
            f"--object-store-memory={OBJECTS}", "--disable-usage-stats",
            env=self.environment,
        )  # fmt: skip

    def end_ray(self):
        """Power off and on again whatever is part of the cluster."""
        for name in NAMES[:-1]:
            self.hosts[name].power_off()
            self.hosts[name].power_on()
            self.hosts[name].restore()

    def greenroom(self, *words, executor="ray"):
        """Start a command of greenroom on the driver's host."""
        environment = {**self.environment, "RAY_ADDRESS": f"{self.hosts['head'].address}:{PORT}"}
        return self.driver.start(
            sys.executable, "-m", "adk_agent.cli.main", *words, "--executor", executor,
            "--results-dir", "/tmp/results", "--offline", "--quiet", "--json",
            env=environment, cwd="/tmp", stdout=(self.driver.folder / "out.json").open("w"),
            stderr=(self.driver.folder / "err.txt").open("w"),
        )  # fmt: skip

    def run(self, executor="ray"):
        agent = f"http://{self.hosts['agent'].address}:{AGENT_PORT}"
        config = {
            "domain": "mock", "max_concurrency": AT_ONCE, "num_trials": self.trials // TASKS,
            "task_ids": [f"task_{number}" for number in range(TASKS)],
        }  # fmt: skip
        request = {"participants": {"agent": agent}, "config": config}
        return self.greenroom("run", json.dumps(request), "--yes", executor=executor)

    def newest_run(self):
        return max(self.results.glob("*/manifest.json"), default=None)

    def recorded(self, run):
        """How many trials are on disk."""
        path = run / "trials.jsonl"
        return path.read_bytes().count(b"\n") if path.exists() else 0

    def said(self):
        return (self.driver.folder / "err.txt").read_text().strip()


@dataclass
class Ended:
    """What became of a scenario."""

    code: int = 0
    wall_s: float = 0.0
    driver_cpu_s: float = 0.0
    notes: list = field(default_factory=list)
    wrong: list = field(default_factory=list)


def trials_of(run):
    """What each trial came to by its key: one entry for each of its lines."""
    found = {}
    for line in (run / "trials.jsonl").read_text().splitlines():
        record = json.loads(line)
        row = record["row"]
        key = tuple(row[name] for name in ("participant", "domain", "task_id", "trial"))
        result = tuple(row[name] for name in ("status", "reward", "seed", "turns", "termination"))
        messages = [{**m, "timestamp": None} for m in record["messages"]]
        found.setdefault(key, []).append((*result, json.dumps(messages, sort_keys=True)))
    return found


def wrong_with(run, expected):
    """What is lost, doubled or different on disk."""
    found, wrong = trials_of(run), []
    if lost := len(expected.keys() - found.keys()):
        wrong.append(f"{lost} trials lost")
    if added := len(found.keys() - expected.keys()):
        wrong.append(f"{added} trials of nobody")
    finished = {
        key: [result for result in results if result[0] != "failed"]
        for key, results in found.items()
    }
    if doubled := sum(len(results) > 1 for results in finished.values()):
        wrong.append(f"{doubled} trials finished twice")
    if open_ := sum(not results for results in finished.values()):
        wrong.append(f"{open_} trials failed")
    differing = [
        key for key in found if finished[key] and finished[key][-1] != expected[key][0]
    ]
    if differing:
        key = differing[0]
        wrong.append(f"{len(differing)} trials differ: {key}: {finished[key][-1]} {expected[key][0]}")
    report = json.loads((run / "report.json").read_text())
    rows = Counter((row["task_id"], row["trial"]) for row in report["trials"])
    if len(rows) != len(expected) or max(rows.values()) > 1:
        wrong.append("the report has other trials")
    return wrong


def finish(process, within_s):
    """Wait for a process: exit code and CPU seconds; None where it hangs."""
    ends = time.monotonic() + within_s
    while time.monotonic() < ends:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            return process.returncode, usage.ru_utime + usage.ru_stime
        time.sleep(0.1)
    return None, 0.0


def started(lab, process, share):
    """The folder of the run, once a share of its trials is on disk."""
    def begun():
        if process.poll() is not None:
            raise RuntimeError(f"the run ended with {process.returncode}: {lab.said()[-800:]}")
        return lab.newest_run()

    run = until(begun, 240, "the run did not begin").parent
    until(lambda: begun() and lab.recorded(run) >= share * lab.trials, 600, "too slow")
    return run


def stall(lab, run, process):
    """The longest time without a new trial while the process runs, until it ends."""
    longest, last, count = 0.0, time.monotonic(), lab.recorded(run)
    while process.poll() is None:
        now = lab.recorded(run)
        if now != count:
            longest, last, count = max(longest, time.monotonic() - last), time.monotonic(), now
        elif time.monotonic() - last > BOUND_S:
            break
        time.sleep(0.2)
    return max(longest, time.monotonic() - last)
