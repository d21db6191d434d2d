"""`adk web` in a process of its own, and headless Chromium to look at it with."""

import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

REPOSITORY = Path(__file__).parents[2]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
START_LIMIT_S = 90.0
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="module")  # for its loop would be in the way of every later test
def browser():
    """Headless Chromium."""
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed: make setup_all"
    )
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed (Debian's package is called chromium)")
    with playwright.sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield chromium
        chromium.close()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_until_served(process, url, log):
    ends_s = time.monotonic() + START_LIMIT_S
    while time.monotonic() < ends_s:
        try:
            httpx.get(f"{url}/list-apps", timeout=5)
        except httpx.TransportError:
            if process.poll() is not None:
                break
            pause_or_end(process)
        else:
            return
    pytest.fail(f"adk web did not start:\n{log.read_text()[-3000:]}")


def pause_or_end(process):
    """Wait for a moment, or until the process ends."""
    try:
        process.wait(0.1)
    except subprocess.TimeoutExpired:
        return


@pytest.fixture(scope="module")
def visited_ui(browser, adk_web):
    """The address of the web UI, whose question to a first visitor is answered."""
    address = f"{adk_web}/dev-ui/?app=adk_agent"
    page = browser.new_page()
    page.goto(address)
    question = page.get_by_role("button", name="No Thanks")  # about telemetry
    question.wait_for(timeout=90_000)
    with page.expect_response(lambda response: response.request.method != "GET"):
        question.click()  # the answer is kept by the server
    page.close()
    return address


@pytest.fixture(scope="module")
def adk_web(browser, tmp_path_factory):
    """The address of `adk web adk_agent`, which keeps its conversations in memory.

    It asks for the browser first: without one there is no need to start it.
    """
    folder = tmp_path_factory.mktemp("adk_web")
    url = f"http://127.0.0.1:{(port := free_port())}"
    log = folder / "adk_web.log"
    services = ("--session_service_uri", "memory://", "--artifact_service_uri", "memory://")
    agent = str(REPOSITORY / "adk_agent")
    environment = {
        **{name: value for name, value in os.environ.items() if "LLM" not in name},
        "HOME": str(folder),  # where ADK keeps what was answered to its question about telemetry
        "GREENROOM_OFFLINE": "true",
        "GREENROOM_RESULTS_DIR": str(folder / "results"),
    }
    for name in ("TAU2_DATA_DIR", "PYTHONDONTWRITEBYTECODE"):
        environment.pop(name, None)
    with log.open("w") as output:
        process = subprocess.Popen(
            [Path(sys.executable).with_name("adk"), "web", "--port", str(port), *services, agent],
            env=environment,
            cwd=folder,
            stdout=output,
            stderr=output,
        )
    try:
        wait_until_served(process, url, log)
        yield url
    finally:
        process.terminate()
        process.wait(30)
