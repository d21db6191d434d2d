"""Evaluate agents that are built with other frameworks, each in an environment of its own.

    .venv/bin/python scripts/foreign_agents/run.py [--folder FOLDER] [NAME ...]

Installs each framework, starts its agent with the rule-based model of `model.py` behind it, plays a
few tasks by `greenroom run`, and prints one line an agent. Needs a package index, and no key. Exit
code 1 where an agent did not do what is expected of it.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from model import Model

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
REQUEST = "Evaluate the agent at {} on mock task create_task_1 and retail tasks 0, 1"
START_S = 120.0
TIMEOUT_S = 120

REQUIREMENTS = {
    "google_adk": ("google-adk[a2a]==2.13.0", "litellm==1.106.2"),
    "pydantic_ai": ("fasta2a[pydantic-ai]==2.1.1", "pydantic-ai-slim[openai]==2.68.0"),
    "openai_agents": ("openai-agents==0.24.0", "a2a-sdk[http-server]==0.3.26"),
    "langgraph": ("langgraph==1.2.22", "langchain-openai==1.7.3", "a2a-sdk[http-server]==1.3.0"),
}
"""What each framework's environment has, beside uvicorn."""


@dataclass(frozen=True, kw_only=True)
class Variant:
    """One agent.

    Args:
        framework: Whose environment and whose file, `<framework>_agent.py`.
        flags: Of that file.
        forgets: It is expected to lose its context; any other is not.
        reason: What the reason of every trial is expected to say; empty: all trials are scored.
    """

    framework: str
    flags: tuple[str, ...] = ()
    forgets: bool = False
    reason: str = ""

    @property
    def name(self) -> str:
        """What the line is called."""
        return " ".join((self.framework, *self.flags))


VARIANTS = (
    Variant(framework="google_adk", flags=("--as-text",)),
    Variant(framework="google_adk", reason="after_model_callback"),
    Variant(framework="pydantic_ai"),
    Variant(framework="openai_agents"),
    Variant(framework="langgraph"),
    Variant(framework="langgraph", flags=("--one-task", "--memory-by-task")),
    Variant(framework="langgraph", flags=("--memory-by-task",), forgets=True),
)


def install(framework: str, folder: Path) -> Path:
    """Return the Python of a framework's environment, creating the environment if needed."""
    python = folder / framework / "bin" / "python"
    wanted = (*REQUIREMENTS[framework], "uvicorn")
    made = folder / framework / "requirements.json"
    if made.exists() and json.loads(made.read_text()) == list(wanted):
        return python
    uv = ROOT / ".tools" / "bin" / "uv"
    found = str(uv) if uv.exists() else shutil.which("uv")
    if found:
        steps = [
            [found, "venv", "--quiet", "--clear", "--python", sys.executable, folder / framework],
            [found, "pip", "install", "--quiet", "--python", python, *wanted],
        ]
    else:
        steps = [
            [sys.executable, "-m", "venv", "--clear", folder / framework],
            [python, "-m", "pip", "install", "--quiet", *wanted],
        ]
    for step in steps:
        subprocess.run(step, check=True)
    made.write_text(json.dumps(wanted))
    return python


@contextmanager
def running(variant: Variant, python: Path, model: Model, log: Path) -> Iterator[str]:
    """Yield the address of an agent while it runs.

    Raises:
        RuntimeError: It ended, or did not serve its card in time.
    """
    port = free_port()
    script = HERE / f"{variant.framework}_agent.py"
    variables = {"MODEL_URL": model.url, "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    with log.open("w") as output:
        agent = subprocess.Popen(
            [python, script, str(port), *variant.flags],
            env={**os.environ, **variables},
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    url = f"http://127.0.0.1:{port}"
    try:
        wait_for(f"{url}/.well-known/agent-card.json", agent, log)
        yield url
    finally:
        agent.terminate()
        agent.wait()


def free_port() -> int:
    """Return a port below the ephemeral range, so that no other program is given it meanwhile."""
    for port in range(20_000 + os.getpid() % 10_000, 32_000):
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise RuntimeError("no port is free")


def wait_for(url: str, agent: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until a card is served."""
    end = time.monotonic() + START_S
    while time.monotonic() < end and agent.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=5):  # noqa: S310  (an address of our own)
                return
        except OSError:
            time.sleep(0.2)
    raise RuntimeError(f"the agent did not start; see {log}")


def evaluate(url: str, folder: Path) -> dict[str, Any]:
    """Return the report of a run."""
    greenroom = Path(sys.executable).with_name("greenroom")
    options = ["--offline", "--quiet", "--json", "--timeout", str(TIMEOUT_S)]
    done = subprocess.run(
        [greenroom, "run", *options, "--results-dir", folder / "results", REQUEST.format(url)],
        capture_output=True,
        text=True,
        check=False,
    )
    try:
        report: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        raise RuntimeError(f"greenroom gave no report: {done.stderr.strip()}") from None
    return report


def line_of(variant: Variant, report: dict[str, Any], counts: Counter[str]) -> tuple[str, bool]:
    """Return the line to print about an agent, and true if it did as expected."""
    trials = report["trials"]
    heard = sum(trial["turns"] > 0 for trial in trials)
    passed = sum(trial["reward"] == 1.0 for trial in trials)
    calls = sum(trial["tool_calls"] for trial in trials)
    lost = counts["conversations without a beginning"]
    line = (
        f"{variant.name}: read in {heard} of {len(trials)} trials, {calls} tool calls,"
        f" {counts['JSON results']} results parsed as JSON and {counts['text results']} kept as"
        f" text, context lost in {lost} of {counts['requests']} requests, {passed} passed"
    )
    reasons = sorted({trial["reason"] for trial in trials if trial["reason"]})
    if variant.reason:
        good = bool(reasons) and all(variant.reason in reason for reason in reasons)
    else:
        good = heard == len(trials) and variant.forgets == (lost > 0)
        good = good and (variant.forgets or (counts["JSON results"] > 0 and passed > 0))
    return "\n    ".join([line, *reasons]), good


def main() -> int:
    """Evaluate the agents that are asked for; 1 where one is not as expected."""
    parser = argparse.ArgumentParser(description="Evaluate agents of other frameworks.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(REQUIREMENTS))
    parser.add_argument("--folder", type=Path, default=ROOT / ".tools" / "foreign_agents")
    given = parser.parse_args()
    unknown = set(given.names) - set(REQUIREMENTS)
    if unknown:
        parser.error(f"unknown: {', '.join(sorted(unknown))}; known: {', '.join(REQUIREMENTS)}")
    folder = given.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    model = Model()
    threading.Thread(target=model.serve_forever, daemon=True).start()
    as_expected = True
    for variant in VARIANTS:
        if given.names and variant.framework not in given.names:
            continue
        python = install(variant.framework, folder)
        model.counts.clear()
        log = folder / f"{'_'.join((variant.framework, *variant.flags))}.log"
        with running(variant, python, model, log) as url:
            report = evaluate(url, folder)
        line, good = line_of(variant, report, model.counts)
        print(line if good else f"NOT AS EXPECTED {line}", flush=True)
        as_expected = as_expected and good
    model.shutdown()
    return 0 if as_expected else 1


if __name__ == "__main__":
    sys.exit(main())
