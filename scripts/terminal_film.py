"""Records what a terminal shows while commands run, as a picture that moves (SVG).

The commands run in a real pseudo-terminal; [pyte](https://pyte.readthedocs.io) keeps the screen.
Only the typing is acted. The picture needs no script: a strip of all screens is moved by CSS, and
whoever wants less motion sees the last one.
"""

from __future__ import annotations

import os
import pty
import select
import struct
import subprocess
import termios
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fcntl import ioctl
from html import escape
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyte

PROMPT = "$ "
TYPING_S = 0.035
READING_S = 2.5
LONGEST_PAUSE_S = 1.0
FRAME_S = 0.1
LAST_S = 6.0
CELL_WIDTH, CELL_HEIGHT, MARGIN = 8.4, 16.5, 14
FONT = "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace"
BACKGROUND, FOREGROUND = "#14181f", "#d7dde5"
COLOURS = {
    "black": "#14181f",
    "red": "#ff7b72",
    "green": "#7ee787",
    "brown": "#e3b341",
    "blue": "#79c0ff",
    "magenta": "#d2a8ff",
    "cyan": "#76e3ea",
    "white": "#d7dde5",
    "brightblack": "#8b949e",
}
"""The colours by the names that pyte gives them."""


@dataclass(frozen=True)
class Frame:
    """A screen and when it appeared, in seconds from the start: each row as drawn SVG."""

    at_s: float
    rows: tuple[str, ...]


def record(
    commands: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    *,
    columns: int,
    lines: int,
) -> list[Frame]:
    """Run commands one after the other in a terminal, and return the screens that were seen.

    Args:
        commands: What is typed; a shell runs each.
        folder: Where they run.
        environment: Their environment.
        columns: The terminal's width in characters.
        lines: Its height.

    Raises:
        RuntimeError: A command ended with another code than 0 or 1, which a gate gives.
    """
    import pyte

    screen = pyte.Screen(columns, lines)
    stream = pyte.ByteStream(screen)
    frames: list[Frame] = []
    clock_s = 0.0

    def show() -> None:
        rows = tuple(_row(screen, number) for number in range(lines))
        if not frames or frames[-1].rows != rows:
            frames.append(Frame(clock_s, rows))

    for command in commands:
        for letter in [PROMPT, *command, "\r\n"]:
            stream.feed(letter.encode())
            clock_s += TYPING_S
            show()
        started_s = clock_s
        for after_s, output in _run(command, folder, environment, columns, lines):
            stream.feed(output)
            if (now_s := started_s + after_s) - clock_s >= FRAME_S:
                clock_s += min(now_s - clock_s, LONGEST_PAUSE_S)
                started_s = clock_s - after_s
                show()
        clock_s += FRAME_S
        show()
        clock_s += READING_S
    return frames


def _run(
    command: str, folder: Path, environment: Mapping[str, str], columns: int, lines: int
) -> Iterator[tuple[float, bytes]]:
    """Yield what a command writes to its terminal, with the seconds since it started."""
    ours, its = pty.openpty()
    ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    started_s = time.monotonic()
    with subprocess.Popen(
        ["sh", "-c", command],
        cwd=folder,
        env={**environment, "TERM": "xterm-256color", "COLUMNS": str(columns)},
        stdin=its,
        stdout=its,
        stderr=its,
        start_new_session=True,
    ) as process:
        os.close(its)
        while True:
            select.select([ours], [], [])
            try:
                output = os.read(ours, 65536)
            except OSError:  # the last writer has closed the terminal
                break
            yield time.monotonic() - started_s, output
    os.close(ours)
    if process.returncode not in (0, 1):
        raise RuntimeError(f"{command!r} ended with {process.returncode}")


def _row(screen: pyte.Screen, number: int) -> str:
    """Draw one row of the screen, its text at the top left of it."""
    cells = [screen.buffer[number][column] for column in range(screen.columns)]
    drawn, column = [], 0
    for (colour, bold), group in groupby(cells, key=lambda cell: (cell.fg, cell.bold)):
        text = "".join(cell.data for cell in group)
        if text.strip():
            x = MARGIN + column * CELL_WIDTH
            length = len(text) * CELL_WIDTH
            fill = COLOURS.get(colour, FOREGROUND if colour == "default" else f"#{colour}")
            look = f' fill="{fill}"' + (' font-weight="bold"' if bold else "")
            drawn.append(
                f'<tspan x="{x:.1f}" textLength="{length:.1f}"{look}>{escape(text)}</tspan>'
            )
        column += len(text)
    return "".join(drawn)


def film(frames: Sequence[Frame], title: str, *, columns: int) -> str:
    """Draw the screens as one SVG that plays them again and again.

    Args:
        frames: The screens by time; at least one.
        title: What is seen, for those who cannot.
        columns: The terminal's width in characters.
    """
    width = round(columns * CELL_WIDTH + 2 * MARGIN)
    height = round(len(frames[0].rows) * CELL_HEIGHT + 2 * MARGIN)
    total_s = frames[-1].at_s + LAST_S
    names = {row: f"r{number}" for number, row in enumerate(_distinct_rows(frames))}
    shifts = [f"transform:translateX({-number * width}px)" for number in range(len(frames))]
    steps = "".join(
        f"{100 * frame.at_s / total_s:.2f}%{{{shift}}}"
        for frame, shift in zip(frames, shifts, strict=True)
    )
    strip = "".join(
        f'<use href="#{names[row]}" x="{number * width}" y="{MARGIN + line * CELL_HEIGHT + 13:.1f}"/>'
        for number, frame in enumerate(frames)
        for line, row in enumerate(frame.rows)
        if row
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">'
        f"<title>{escape(title)}</title><style>"
        f"text{{font:14px {FONT};white-space:pre}}"
        f".strip{{animation:play {total_s:.2f}s steps(1,end) infinite}}"
        f"@keyframes play{{{steps}to{{{shifts[-1]}}}}}"
        f"@media(prefers-reduced-motion:reduce){{.strip{{animation:none;{shifts[-1]}}}}}"
        f"</style><defs>"
        + "".join(f'<text id="{name}">{row}</text>' for row, name in names.items())
        + f'</defs><rect width="{width}" height="{height}" rx="8" fill="{BACKGROUND}"/>'
        f'<g class="strip">{strip}</g></svg>\n'
    )


def _distinct_rows(frames: Sequence[Frame]) -> Iterator[str]:
    yield from dict.fromkeys(row for frame in frames for row in frame.rows if row)
