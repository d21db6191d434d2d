"""Makes every picture in docs/images, of real runs: `python scripts/report_images.py`.

Plays runs of bundled agents offline, serves them, writes their pages, and takes their pictures with Debian's
Chromium, most of them by day and by night. A picture is kept with a palette, which makes it a third of its size. The pictures of `adk web` (`adk-web.png`, `adk-web-artifacts.png`) are taken by the browser
test that holds such a conversation. Needs what `make setup_all` installs.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ROOT = Path(__file__).parent.parent
IMAGES = ROOT / "docs" / "images"
CONVERSATION = "tests/browser/test_adk_web.py"
SCORES = {
    "participants": {"reference": "builtin:reference", "echo": "builtin:echo"},
    "config": {"domain": "business", "num_tasks": 24, "num_trials": 2},
}
TEAMS = {
    "participants": {"mesh": "builtin:team:mesh4", "degraded": "builtin:team:degraded4"},
    "config": {"domain": "coordination", "num_tasks": 2},
}

BEFORE_AND_AFTER = [
    {
        "participants": {"agent": f"builtin:{name}"},
        "config": {"domain": "mock", "num_trials": 2},
    }
    for name in ("echo", "oracle")
]
UNDER_WAY = {
    "participants": {"agent": "builtin:reference"},
    "config": {"domain": "business", "num_tasks": 30, "num_trials": 8},
}


def page_of(request: dict[str, Any], folder: Path) -> str:
    """Play a run and write its page; returns the page's address."""
    kept = ["--results-dir", str(folder)]
    greenroom("run", json.dumps(request), "--offline", "--quiet", *kept)
    page = folder / "page.html"
    greenroom("view", "--no-open", "--out", str(page), *kept)
    return page.as_uri()


def greenroom(*arguments: str) -> None:
    """Run a command of ours."""
    command = [sys.executable, "-m", "adk_agent.cli.main", *arguments]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def shoot(browser: Browser, address: str, *names: str, **options: Any) -> None:
    """Take the same picture in one theme or in both.

    Args:
        browser: Where to open it.
        address: The page.
        names: The pictures' file names; those that end with `-dark` are dark.
        options: `width`, `height`; `part`, a selector of what to show; `trial`, a selector of a
            link to a trial that is opened first; `steps`, how often the calls of the first team
            are stepped on; `live`, True for a page that follows a run.
    """
    for name in names:
        context = browser.new_context(
            viewport={"width": options.get("width", 1100), "height": options.get("height", 900)},
            color_scheme="dark" if "-dark." in name else "light",
            reduced_motion="reduce",
        )
        page = context.new_page()
        page.goto(address, wait_until="commit" if options.get("live") else "load")
        if options.get("live"):
            page.get_by_text("answer of").first.wait_for()
        if "trial" in options:
            open_trial(page, options["trial"])
        for number in range(options.get("steps", 0)):
            page.get_by_role("button", name="Next call").first.click()
            page.get_by_text(f"Call {number + 1} of").wait_for()
        if "part" in options:
            page.locator(options["part"]).first.evaluate("each => each.scrollIntoView()")
        keep(page.screenshot(), name)
        context.close()


def keep(picture: bytes, name: str) -> None:
    """Keep a picture with 128 colours."""
    from PIL import Image

    IMAGES.mkdir(exist_ok=True)
    with Image.open(io.BytesIO(picture)) as full:
        few = full.convert("RGB").quantize(128, dither=Image.Dither.NONE)
        few.save(IMAGES / name, optimize=True)


def open_trial(page: Page, link: str) -> None:
    """Open the first trial that a selector finds, and wait until it is shown."""
    page.locator(link).first.click()
    page.locator("dialog[open] .turns").first.wait_for()


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve all runs of a folder; yields the address."""
    command = [sys.executable, "-m", "adk_agent.cli.main", "view", "--serve", "--no-open"]
    with subprocess.Popen(
        [*command, "--results-dir", folder.name],  # which the site shows
        cwd=folder.parent,
        stdout=subprocess.PIPE,
        text=True,
    ) as site:
        try:
            yield (site.stdout.readline() if site.stdout else "").removeprefix("runs: ").strip()
        finally:
            site.terminate()


def shoot_site(browser: Browser, folder: Path) -> None:
    """Take the pictures of all runs, of two side by side, and of one under way."""
    for request in BEFORE_AND_AFTER:
        greenroom("run", json.dumps(request), "--offline", "--quiet", "--results-dir", str(folder))
    second, first = sorted((each.name for each in folder.iterdir() if each.is_dir()), reverse=True)[
        :2
    ]
    command = [sys.executable, "-m", "adk_agent.cli.main", "run", json.dumps(UNDER_WAY), "--quiet"]
    with served(folder) as site:
        shoot(browser, site, "site-runs.png", "site-runs-dark.png", height=760)
        compare = f"{site}compare?first={first}&second={second}&other_data=1"
        shoot(browser, compare, "site-compare.png", "site-compare-dark.png", height=860)
        known = set(folder.iterdir())
        with subprocess.Popen(
            [*command, "--offline", "--results-dir", str(folder)], stdout=subprocess.DEVNULL
        ) as run:
            while run.poll() is None:
                new = [each for each in folder.iterdir() if each not in known]
                if new and any((new[0] / "live").glob("*.jsonl")):
                    live = f"{site}runs/{new[0].name}/live"
                    names = ("site-live.png", "site-live-dark.png")
                    shoot(browser, live, *names, height=760, live=True)
                    break
            run.terminate()


def shoot_conversation() -> None:
    """Take the pictures of `adk web`, in a test that talks to it."""
    subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", CONVERSATION],
        check=True,
        cwd=ROOT,
        env={**os.environ, "GREENROOM_SCREENSHOTS": "1"},
    )


def main() -> int:
    """Make all pictures."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    with tempfile.TemporaryDirectory() as made, sync_playwright() as playwright:
        scores = page_of(SCORES, Path(made) / "results")
        teams = page_of(TEAMS, Path(made) / "teams")
        flags = ["--no-sandbox", "--disable-gpu"]
        browser = playwright.chromium.launch(executable_path=chromium, args=flags)
        shoot(browser, scores, "report-verdict.png", "report-verdict-dark.png", height=1000)
        shoot(browser, scores, "report-matrix-dark.png", part="#matrix", height=760)
        lost = "tr:nth-child(3) a.cell.lost"
        trial = ("report-trial.png", "report-trial-dark.png")
        shoot(browser, scores, *trial, trial=lost, height=1200)
        team = ("report-teams.png", "report-teams-dark.png")
        shoot(browser, teams, *team, part=".team", steps=5, height=1000)
        shoot(browser, scores, "report-phone-dark.png", width=320, height=640)
        shoot(browser, scores, "report-trial-phone.png", trial=lost, width=320, height=640)
        shoot_site(browser, Path(made) / "results")
        browser.close()
    shoot_conversation()
    return 0


if __name__ == "__main__":
    sys.exit(main())
