"""Records the demonstrations of README and docs, from real runs: `python scripts/demo.py`.

- `docs/images/demo.svg`: a terminal in which agents are evaluated and one is asked about.
- `docs/images/demo.webm`: a browser in `adk web`, then on the page of the run.

Everything is offline. Needs what `make setup_all` installs, and Debian's `chromium` and `ffmpeg`.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
from terminal_film import film, record

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, ViewportSize

ROOT = Path(__file__).parent.parent
IMAGES = ROOT / "docs" / "images"
COMMANDS = (
    'greenroom run "Evaluate the bundled reference and echo agents'
    ' on thirty business tasks, two trials each"',
    'greenroom ask "why did echo fail?"',
)
COLUMNS, LINES = 118, 34
TITLE = (
    "A terminal: two bundled agents are evaluated on thirty business tasks, with a line for each"
    " while they play; then greenroom ask says why one of them failed."
)
REQUEST = "Evaluate the bundled reference and echo agents on twelve business tasks"
QUESTION = "Why did echo fail?"
SIZE: ViewportSize = {"width": 1200, "height": 800}
READING_MS = 2500
SCROLL = "each => each.scrollIntoView({behavior: 'smooth', block: 'start'})"
NO_ICONS = "mat-icon, .material-symbols-outlined { visibility: hidden !important }"
"""The icons of `adk web` are a font from the internet; without it their names are shown."""


def environment(home: Path) -> dict[str, str]:
    """Return the variables of a machine without keys, official data or earlier runs."""
    chosen = ("LLM", "GREENROOM", "TAU2", "NO_COLOR", "CI")
    inherited = {name: text for name, text in os.environ.items() if not name.startswith(chosen)}
    path = f"{Path(sys.executable).parent}{os.pathsep}{inherited['PATH']}"
    return {**inherited, "PATH": path, "HOME": str(home), "GREENROOM_OFFLINE": "true"}


def film_terminal(home: Path) -> None:
    """Write `demo.svg`."""
    frames = record(COMMANDS, home, environment(home), columns=COLUMNS, lines=LINES)
    (IMAGES / "demo.svg").write_text(film(frames, TITLE, columns=COLUMNS), encoding="utf-8")


@contextmanager
def serving(command: list[str], home: Path) -> Iterator[None]:
    """Keep a server running."""
    quiet = subprocess.DEVNULL
    with subprocess.Popen(
        command, cwd=home, env=environment(home), stdout=quiet, stderr=quiet
    ) as server:
        try:
            yield
        finally:
            server.terminate()


def free_port() -> int:
    """Return a port that nobody listens at."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def wait_for(address: str) -> None:
    """Wait until a server answers, for a minute at most."""
    transport = httpx.HTTPTransport(retries=12)  # each waits twice as long as the one before
    with httpx.Client(transport=transport, timeout=60) as client:
        client.get(address).raise_for_status()


def film_browser(home: Path) -> None:
    """Write `demo.webm`: a conversation in `adk web`, then the run's page and a failed trial."""
    from playwright.sync_api import sync_playwright

    port = free_port()
    kept = ["--session_service_uri", "memory://", "--artifact_service_uri", "memory://"]
    adk = ["adk", "web", "--port", str(port), *kept, str(ROOT / "adk_agent")]
    give_the_recorder(home / "browsers")
    with serving(adk, home), sync_playwright() as playwright:
        wait_for(f"http://127.0.0.1:{port}/list-apps")
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium") or shutil.which("chromium-browser"),
            args=["--no-sandbox", "--disable-gpu"],
        )
        ui = f"http://127.0.0.1:{port}/dev-ui/?app=adk_agent"
        answer_the_first_question(browser, ui)
        context = browser.new_context(viewport=SIZE, record_video_dir=home, record_video_size=SIZE)
        page = context.new_page()
        page.set_default_timeout(90_000)
        page.goto(ui)
        page.add_style_tag(content=NO_ICONS)
        say(page, REQUEST)
        page.get_by_role("heading", name="Recommendations").wait_for()
        page.wait_for_timeout(READING_MS)
        say(page, QUESTION)
        page.get_by_text("For one of them in full").wait_for()
        page.wait_for_timeout(READING_MS)
        look_around(page, home)
        context.close()
        browser.close()
    [recorded] = home.glob("*.webm")
    shrink(recorded, IMAGES / "demo.webm")


def give_the_recorder(folder: Path) -> None:
    """Let Playwright record with Debian's ffmpeg in place of the one that it would download."""
    import playwright

    described = Path(playwright.__file__).parent / "driver" / "package" / "browsers.json"
    browsers = json.loads(described.read_text(encoding="utf-8"))["browsers"]
    [revision] = [each["revision"] for each in browsers if each["name"] == "ffmpeg"]
    found = shutil.which("ffmpeg")
    if found is None:
        sys.exit("ffmpeg is not installed (Debian's package is called ffmpeg)")
    link = folder / f"ffmpeg-{revision}" / "ffmpeg-linux"
    link.parent.mkdir(parents=True)
    link.symlink_to(found)
    os.environ["PLAYWRIGHT_BROWSERS_PATH"] = str(folder)


def answer_the_first_question(browser: Browser, ui: str) -> None:
    """Answer what ADK asks a new visitor, about telemetry."""
    page = browser.new_page()
    page.goto(ui)
    question = page.get_by_role("button", name="No Thanks")
    question.wait_for(timeout=90_000)
    with page.expect_response(lambda response: response.request.method != "GET"):
        question.click()
    page.close()


def say(page: Page, text: str) -> None:
    """Type a message, at the pace of a person."""
    box = page.get_by_placeholder("Type a message...")
    box.press_sequentially(text, delay=30)
    page.wait_for_timeout(400)
    box.press("Enter")


def look_around(page: Page, home: Path) -> None:
    """Show the page of the latest run, and one of its trials."""
    shown = home / "report.html"
    subprocess.run(
        ["greenroom", "view", "--no-open", "--out", str(shown)],
        cwd=home,
        env=environment(home),
        check=True,
        stdout=subprocess.DEVNULL,
    )
    page.goto(shown.as_uri())
    page.wait_for_timeout(READING_MS)
    page.locator("#matrix").evaluate(SCROLL)
    page.wait_for_timeout(READING_MS)
    page.locator("a.cell.lost").first.click()
    page.locator("dialog[open] .turns").first.wait_for()
    page.wait_for_timeout(READING_MS)
    page.locator("dialog[open] .turns").first.evaluate(SCROLL)
    page.wait_for_timeout(READING_MS)
    page.keyboard.press("Escape")
    page.locator("#scores").evaluate(SCROLL)
    page.wait_for_timeout(READING_MS)


def shrink(recorded: Path, smaller: Path) -> None:
    """Encode a recording again, with the few bits that still pictures need."""
    quality = ["-c:v", "libvpx-vp9", "-crf", "42", "-b:v", "0", "-row-mt", "1", "-r", "10"]
    subprocess.run(
        ["ffmpeg", "-y", "-loglevel", "error", "-i", str(recorded), "-an", *quality, str(smaller)],
        check=True,
    )


def main() -> int:
    """Make both."""
    with tempfile.TemporaryDirectory() as made:
        film_terminal(Path(made))
    with tempfile.TemporaryDirectory() as made:
        film_browser(Path(made))
    return 0


if __name__ == "__main__":
    sys.exit(main())
