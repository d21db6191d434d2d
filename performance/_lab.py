"""A Ray cluster on hosts of this machine, an agent, tasks, and commands of greenroom between them."""

import contextlib
import json
import os
import secrets
import shutil
import sys
import time
from pathlib import Path

from _hosts import until

PORT, AGENT_PORT = 6379, 9010
TASKS = 100
AT_ONCE = 40
CPUS = 2
OBJECTS = 80 * 2**20
RESULTS = "/tmp/results"  # noqa: S108 - each host has a /tmp of its own
REPOSITORY = Path(__file__).resolve().parent.parent
NAMES = ("head", "worker1", "worker2", "driver", "agent")


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
                "user_scenario": {
                    "instructions": f"Create a new task called '{title}' for user_1."
                },
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
            "RAY_AUTH_MODE": "token",  # or whoever reaches a cluster may run programs on it
            "RAY_AUTH_TOKEN": secrets.token_hex(32),
            "PYTHONPATH": str(REPOSITORY),
        }

    def serve_agent(self):
        agent = self.hosts["agent"]
        words = ("reference", "--host", agent.address, "--port", AGENT_PORT)
        log = (agent.folder / "agent.log").open("w")
        process = agent.start(
            sys.executable,
            "-m",
            "purple_agent",
            *words,
            env=self.environment,
            stdout=log,
            stderr=log,
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
            "--results-dir", RESULTS, "--offline", "--quiet", "--json",
            env=environment, cwd="/", stdout=(self.driver.folder / "out.json").open("w"),
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

    def forget(self):
        """Remove the runs before."""
        shutil.rmtree(self.results, ignore_errors=True)

    def newest_run(self):
        """The folder of the run; None before it has one."""
        return max((path.parent for path in self.results.glob("*/manifest.json")), default=None)

    def recorded(self, run):
        """How many trials are on disk."""
        path = run / "trials.jsonl"
        return path.read_bytes().count(b"\n") if path.exists() else 0

    def reason(self):
        """The line in which it says why it ended."""
        lines = [line for line in self.said().splitlines() if " is gone" in line]
        return lines[0].strip()[:300] if lines else "said nothing"

    def said(self):
        return (self.driver.folder / "err.txt").read_text().strip()


class Program:
    """A command of greenroom that runs, and what is seen of it from outside."""

    def __init__(self, lab, process):
        self.code = None
        self.cpu_s = 0.0
        self.longest_s = 0.0
        """The longest time without a new trial on disk."""
        self.process = process
        self._lab = lab
        self._began_s = self._grew_s = time.monotonic()
        self._count = 0
        self.history = []
        """Pairs of seconds and trials on disk."""

    @property
    def seconds(self):
        return time.monotonic() - self._began_s

    def look(self):
        """Look at it, and at what it has written; tell whether it has ended."""
        if self.code is None:
            pid, status, usage = os.wait4(self.process.pid, os.WNOHANG)
            if pid:
                self.code = self.process.returncode = os.waitstatus_to_exitcode(status)
                self.cpu_s = usage.ru_utime + usage.ru_stime
        run = self._lab.newest_run()
        count = self._lab.recorded(run) if run else 0
        if count != self._count:
            if self._count:
                self.longest_s = max(self.longest_s, time.monotonic() - self._grew_s)
            self._count, self._grew_s = count, time.monotonic()
            self.history.append((round(self.seconds, 1), count))
        return self.code is not None

    def until_played(self, share):
        """Wait until a share of the trials is on disk."""
        until(lambda: self.look() or self._count >= share * self._lab.trials, 600, "too few trials")
        if self.code is not None and self._count < self._lab.trials:
            raise RuntimeError(f"it ended with {self.code}: {self._lab.said()[-800:]}")

    def until_ended(self, bound_s):
        """Wait until it ends; tell whether it did."""
        with contextlib.suppress(TimeoutError):
            until(self.look, bound_s, "it hangs")
            return True
        self.process.kill()
        self._lab.driver.kill("python")
        self.process.wait()
        return False

    def wait(self, seconds):
        """Let it go on for a while."""
        with contextlib.suppress(TimeoutError):
            until(self.look, seconds, "")
