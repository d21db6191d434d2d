"""`adk web` in a process of its own, and headless Chromium to look at it with."""

import os
import shutil
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

REPOSITORY = Path(__file__).parents[2]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
START_LIMIT_S = 90.0
PATIENCE_MS = 60_000
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
def home(tmp_path_factory):
    """The folder where ADK keeps what a first visitor answered to its question about telemetry."""
    return tmp_path_factory.mktemp("adk_web")


@contextmanager
def adk_web(home, **environment):
    """Serve `adk web adk_agent`, which keeps its conversations in memory; yields its address."""
    url = f"http://127.0.0.1:{(port := free_port())}"
    log = home / f"adk_web-{port}.log"
    services = ("--session_service_uri", "memory://", "--artifact_service_uri", "memory://")
    agent = str(REPOSITORY / "adk_agent")
    inherited = {name: value for name, value in os.environ.items() if "LLM" not in name}
    for name in ("TAU2_DATA_DIR", "PYTHONDONTWRITEBYTECODE"):
        inherited.pop(name, None)
    kept = {"HOME": str(home), "GREENROOM_RESULTS_DIR": str(home / "results")}
    with log.open("w") as output:
        process = subprocess.Popen(
            [Path(sys.executable).with_name("adk"), "web", "--port", str(port), *services, agent],
            env={**inherited, **kept, **environment},
            cwd=home,
            stdout=output,
            stderr=output,
        )
    try:
        wait_until_served(process, url, log)
        yield url
    finally:
        process.terminate()
        process.wait(30)


@pytest.fixture(scope="module")
def visited_ui(browser, home):
    """The address of the web UI without a language model, whose first question is answered.

    It asks for the browser first: without one there is no need to start anything.
    """
    with adk_web(home, GREENROOM_OFFLINE="true") as url:
        page = browser.new_page()
        page.goto(ui_of(url))
        question = page.get_by_role("button", name="No Thanks")  # about telemetry
        question.wait_for(timeout=90_000)
        with page.expect_response(lambda response: response.request.method != "GET"):
            question.click()  # the answer is kept in the home folder
        page.close()
        yield ui_of(url)


def ui_of(url):
    return f"{url}/dev-ui/?app=adk_agent"


@pytest.fixture
def open_ui(browser):
    """Opens a new conversation in a web UI, from which only this machine is reached."""
    contexts = []

    def only_this_machine(route):
        host = route.request.url.partition("://")[2]
        if host.startswith("127.0.0.1:"):
            route.continue_()
        else:
            route.abort()

    def open_page(address):
        context = browser.new_context(viewport={"width": 1400, "height": 950})
        contexts.append(context)
        context.route("**/*", only_this_machine)
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.goto(address)
        return page

    yield open_page
    for context in contexts:
        context.close()
