"""The A2A service under load: `greenroom serve` in processes of its own, evaluations of `null`.

Measures how soon the card is there, how long it takes while evaluations run, the longest time that
the server's event loop did not turn (its own CPU time in that gap beside it), whether evaluations
at once are mixed up, and memory over evaluations in a row. Exits with 1 if a bound is missed; the
`idle` line says how long a process that does nothing was kept waiting by this machine.

By default it takes two to three minutes; `--row 1000` is the full measure of memory.

Usage: python performance/service.py [--at-once N] [--crowd N] [--row N] [--bundled]
"""

import argparse
import asyncio
import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import httpx

CARD = "/.well-known/agent-card.json"
START_BOUND_S, CARD_BOUND_MS, BLOCKED_BOUND_MS = 2.0, 100.0, 100.0
GROWTH_BOUND_MB = 20.0
STEP, KEPT = 100, 500
"""Evaluations between two looks at memory, and finished tasks that the service keeps in it."""
BEAT_S = 0.005
START_LIMIT_S, END_LIMIT_S = 60.0, 1800.0
TASKS = ("create_task_1", "update_task_1", "impossible_task_1")


class Heartbeat:
    """Looks from within an event loop for how long it did not turn, and what it spent meanwhile.

    SIGUSR1 has the longest gap since the last SIGUSR1 written to the file.
    """

    def __init__(self, path):
        self.path, self.worst = path, (0.0, 0.0)

    async def beat(self):
        asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, self.tell)
        while True:
            asked, spent = time.perf_counter(), time.thread_time()
            await asyncio.sleep(BEAT_S)
            late = time.perf_counter() - asked - BEAT_S, time.thread_time() - spent
            self.worst = max(self.worst, late)

    def tell(self):
        new = self.path.with_suffix(".new")
        new.write_text(json.dumps([1000 * each for each in self.worst]))
        new.rename(self.path)
        self.worst = (0.0, 0.0)


def serve_watched(path, arguments):
    """The command `greenroom serve`, with a heartbeat in the event loop that uvicorn runs on."""
    import uvicorn

    serve = uvicorn.Server.serve

    async def watched(self, sockets=None):
        beating = asyncio.create_task(Heartbeat(Path(path)).beat())
        await serve(self, sockets=sockets)
        beating.cancel()

    uvicorn.Server.serve = watched
    from adk_agent.cli.main import main

    sys.exit(main(["serve", *arguments]))


def probe(host, port):
    """Fetch the card until standard input ends; print all latencies in ms, and the idle gaps."""
    ended = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
    latencies, idle = [], []
    while not ended.is_set():
        started = time.perf_counter()
        connection = http.client.HTTPConnection(host, port, timeout=30)
        connection.request("GET", CARD)
        answer = connection.getresponse()
        answer.read()
        connection.close()
        assert answer.status == 200
        done = time.perf_counter()
        time.sleep(BEAT_S)
        latencies.append(1000 * (done - started))
        idle.append(1000 * (time.perf_counter() - done - BEAT_S))
    print(json.dumps([latencies, idle]))


def rss_mb(pid):
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


def children(pid):
    """The processes that this one started; those that have just ended are left out."""
    found = []
    for status in Path("/proc").glob("[0-9]*/status"):
        with contextlib.suppress(OSError):
            text = status.read_text()
            parent = int(text.partition("PPid:")[2].split()[0])
            found += [int(status.parent.name)] if parent == pid and "VmRSS" in text else []
    return found


def _unwanted(variable):
    """Whether it would bring in a model, or have the server compile all that it imports."""
    return "LLM" in variable or variable == "PYTHONDONTWRITEBYTECODE"


class Service:
    """The server's process."""

    def __init__(self, folder):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.worst = folder / "worst.json"
        environment = {
            **{key: value for key, value in os.environ.items() if not _unwanted(key)},
            "GREENROOM_OFFLINE": "true",
            "GREENROOM_RESULTS_DIR": str(folder / "results"),
        }
        self.log = (folder / "service.log").open("w+")
        own = [sys.executable, __file__, "serve", str(self.worst)]
        started = time.perf_counter()
        self.process = subprocess.Popen(
            [*own, "--port", str(self.port)], env=environment, stderr=self.log, stdout=self.log
        )
        while not self.answers():
            if self.process.poll() is not None or time.perf_counter() - started > START_LIMIT_S:
                self.log.seek(0)
                raise SystemExit(f"the service did not start:\n{self.log.read()[-2000:]}")
            time.sleep(0.01)
        self.start_s = time.perf_counter() - started

    def answers(self):
        try:
            return httpx.get(self.url + CARD, timeout=1.0).status_code == 200
        except httpx.TransportError:
            return False

    def rss_mb(self):
        """Of the process that answers, and of the one that plays."""
        return sum(map(rss_mb, [self.process.pid, *children(self.process.pid)]))

    def blocked_ms(self):
        """The longest gap since this was last asked, and the CPU time that the loop spent in it."""
        self.worst.unlink(missing_ok=True)
        self.process.send_signal(signal.SIGUSR1)
        while not self.worst.exists():
            time.sleep(BEAT_S)
        return json.loads(self.worst.read_text())

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def null_agent():
    process = subprocess.Popen(
        [sys.executable, "-m", "purple_agent", "null", "--port", "0", "--announce"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    return process, json.loads(process.stdout.readline())["agents"]["null"]


def request_of(number, agent):
    """An AgentBeats request that no other of the same batch equals: its task and its seed."""
    config = {"domain": "mock", "task_ids": [TASKS[number % len(TASKS)]], "seed": number}
    return {"participants": {"agent": agent}, "config": config}


async def evaluate(client, url, number, agent):
    """Ask for one evaluation, and return what is wrong with the answer, or None."""
    asked = request_of(number, agent)
    message = {
        "messageId": f"message-{number}",
        "role": "user",
        "parts": [{"kind": "text", "text": json.dumps(asked)}],
    }
    body = {
        "jsonrpc": "2.0",
        "id": number,
        "method": "message/send",
        "params": {"message": message},
    }
    answer = (await client.post(url, json=body)).json()
    task = answer.get("result", {})
    if task.get("status", {}).get("state") != "completed":
        return json.dumps(answer)[-400:]
    [row] = [
        part["data"]
        for artifact in task["artifacts"]
        for part in artifact["parts"]
        if part["kind"] == "data"
    ]
    got = sorted(row["task_rewards"]), int(row["plan"]["seed"]), json.loads(row["request"])
    wanted = sorted(asked["config"]["task_ids"]), number, asked
    return None if got == wanted and row["max_score"] == 1 else f"mixed up: {got} for {wanted}"


async def evaluate_all(url, numbers, agent, at_once):
    waiting = iter(numbers)
    problems = []
    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(timeout=END_LIMIT_S, limits=limits) as client:

        async def work():
            for number in waiting:
                problem = await evaluate(client, url, number, agent)
                problems.extend([problem] if problem else [])

        await asyncio.gather(*(work() for _ in range(at_once)))
    return problems


class Report:
    """Prints one line for each figure, and keeps whether a bound was missed."""

    def __init__(self):
        self.missed = False
        print(f"{'figure':<46}{'value':>12}{'bound':>10}")

    def line(self, name, value, bound=None):
        missed = bound is not None and value > bound
        self.missed |= missed
        shown = "" if bound is None else f"{bound:g}"
        print(f"{name:<46}{value:>12.1f}{shown:>10}{'  MISSED' if missed else ''}", flush=True)


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def batch(service, report, name, numbers, agent, at_once):
    """Evaluate, with the card fetched all the while by another process."""
    service.blocked_ms()
    looking = subprocess.Popen(
        [sys.executable, __file__, "probe", "127.0.0.1", str(service.port)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    started = time.perf_counter()
    problems = asyncio.run(evaluate_all(service.url, numbers, agent, at_once))
    took_s = time.perf_counter() - started
    latencies, idle = json.loads(looking.communicate("")[0])
    blocked_ms, spent_ms = service.blocked_ms()
    report.line(f"{name}: seconds for {len(numbers)}", took_s)
    report.line(f"{name}: not completed, or mixed up", len(problems), 0)
    report.line(
        f"{name}: card p99 ms of {len(latencies)}", percentile(latencies, 0.99), CARD_BOUND_MS
    )
    report.line(f"{name}: card max ms", max(latencies))
    report.line(f"{name}: event loop blocked, longest, ms", blocked_ms, BLOCKED_BOUND_MS)
    report.line(f"{name}: of which it computed, ms", spent_ms)
    report.line(f"{name}: idle process kept waiting, longest, ms", max(idle))
    for problem in problems[:3]:
        print("   ", problem)


def row(service, report, agent, count, first):
    """Evaluations one after the other; memory must not grow once the store of tasks is full."""
    full_mb = None
    for begun in range(0, count, STEP):
        numbers = range(first + begun, first + min(begun + STEP, count))
        problems = asyncio.run(evaluate_all(service.url, numbers, agent, 1))
        done, rss_mb = begun + len(numbers), service.rss_mb()
        report.line(f"in a row: not completed of {len(numbers)}", len(problems), 0)
        report.line(f"in a row: RSS in MB after {done}", rss_mb)
        if full_mb is not None:
            report.line(f"in a row: MB more than after {KEPT}", rss_mb - full_mb, GROWTH_BOUND_MB)
        elif done >= KEPT:
            full_mb = rss_mb


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--at-once", type=int, default=50, help="evaluations while timing the card")
    parser.add_argument("--crowd", type=int, default=100, help="evaluations all at once")
    parser.add_argument("--row", type=int, default=100, help="evaluations in a row, for memory")
    parser.add_argument("--bundled", action="store_true", help="a null agent for each evaluation")
    options = parser.parse_args()
    null, address = null_agent()
    agent = "builtin:null" if options.bundled else address
    with tempfile.TemporaryDirectory() as folder:
        service = Service(Path(folder))
        try:
            report = Report()
            report.line("card after the start of the process, s", service.start_s, START_BOUND_S)
            first = asyncio.run(evaluate_all(service.url, [0], agent, 1))
            report.line("first evaluation: problems", len(first), 0)
            at_once, crowd = options.at_once, options.crowd
            batch(service, report, f"{at_once} at once", range(1, 2 * at_once + 1), agent, at_once)
            if crowd:
                batch(service, report, f"{crowd} all at once", range(crowd), agent, crowd)
            row(service, report, agent, options.row, 10_000)
        finally:
            service.stop()
            null.terminate()
            null.wait()
    sys.exit(report.missed)


if __name__ == "__main__":
    if sys.argv[1:2] == ["serve"]:
        serve_watched(sys.argv[2], sys.argv[3:])
    elif sys.argv[1:2] == ["probe"]:
        probe(sys.argv[2], int(sys.argv[3]))
    else:
        main()
