"""LiveTable: a run that plays, as a table on a terminal with a row for each agent."""

from __future__ import annotations

import time
from collections.abc import Callable

from rich.box import SIMPLE_HEAD
from rich.console import Console, RenderableType
from rich.constrain import Constrain
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from adk_agent.core.escaping import escape_controls
from adk_agent.results.agent_progress import AgentProgress
from adk_agent.results.progress import Progress
from adk_agent.results.tables import NONE, dollars, tokens

REFRESHES_PER_S = 4
WIDE, NARROW = 24, 8
"""Columns of a bar, on a wide terminal and on a narrower one."""
_WIDE_FROM, _TINY_BELOW = 110, 70
"""Columns of a wide terminal, and of one without room for a bar."""
_ECHO = "^C"
"""Terminals write this behind the last line at Ctrl-C. In a line that is full it would wrap, and
one line of the table would stay when it is wiped off."""
_AROUND = 8
"""Lines of a screen that the table leaves to its head and to what scrolls above."""


class LiveTable:
    """Redraws itself until it is stopped, and leaves nothing on the screen.

    Args:
        console: A terminal.
        clock: Returns seconds that only go up.
    """

    def __init__(self, console: Console, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._console = console
        self._clock = clock
        self._progress: Progress | None = None
        self._began_s: float | None = None
        self._before: dict[str, int] = {}
        self._live = Live(
            get_renderable=self.drawn,
            console=console,
            refresh_per_second=REFRESHES_PER_S,
            transient=True,
        )

    def start(self) -> None:
        """Begin to draw."""
        self._live.start()

    def stop(self) -> None:
        """Wipe the table off."""
        self._live.stop()

    def show(self, progress: Progress) -> None:
        """Take the latest progress. Rates count from the first one of a run that plays."""
        if progress.stage == "playing" and self._began_s is None:
            self._began_s = self._clock()
            agents = (*progress.agents, _all_of(progress))
            self._before = {agent.participant: agent.done for agent in agents}
        self._progress = progress

    def drawn(self) -> RenderableType:
        """Draw the latest progress, with room at the right for what the terminal echoes."""
        return Constrain(self._content(), max(1, self._console.width - len(_ECHO)))

    def _content(self) -> RenderableType:
        progress = self._progress
        if progress is None or progress.stage == "preparing":
            return _text("preparing" if progress is None else progress.message)
        agents = list(progress.agents)
        has_reports = any(agent.agent_tokens or agent.agent_cost for agent in agents)
        width = self._console.width
        is_wide, is_tiny = width >= _WIDE_FROM, width < _TINY_BELOW
        table = Table(
            box=SIMPLE_HEAD if is_wide else None,
            pad_edge=False,
            collapse_padding=not is_wide,
        )
        table.add_column("agent", overflow="ellipsis")  # gives way where a terminal is narrow
        if not is_tiny:
            table.add_column("", width=WIDE if is_wide else NARROW)
        for name in ("trials", "passed", "per min", "left", "spent"):
            table.add_column(name, justify="right", no_wrap=True)
        if has_reports:
            table.add_column("agent's own", justify="right", no_wrap=True)
        rows = [*agents[: max(1, self._console.height - _AROUND)]]
        hidden = progress.total - sum(agent.total for agent in rows)
        if len(rows) > 1 or hidden:
            rows.append(_all_of(progress))
        for row in rows:
            played = row.done - self._before.get(row.participant, 0)
            rate = self._per_minute(played)
            left = NONE if not rate else _duration(60 * (row.total - row.done) / rate)
            table.add_row(
                _text(row.participant),
                *([] if is_tiny else [ProgressBar(total=max(row.total, 1), completed=row.done)]),
                f"{row.done}/{row.total}",
                str(row.passed),
                NONE if rate is None else f"{rate:.1f}",
                left,
                _spent(row.total_tokens, row.cost),
                *([_spent(row.agent_tokens, row.agent_cost)] if has_reports else []),
            )
        return table

    def _per_minute(self, played: int) -> float | None:
        """Return the trials a minute since the run plays here; None before the first."""
        elapsed_s = 0.0 if self._began_s is None else self._clock() - self._began_s
        return 60 * played / elapsed_s if played and elapsed_s > 0 else None


def _all_of(progress: Progress) -> AgentProgress:
    """Return the row of the whole run; agents beyond those of an update are only here."""
    return AgentProgress(
        participant="all agents",
        done=progress.done,
        total=progress.total,
        passed=progress.passed,
        total_tokens=progress.total_tokens,
        cost=progress.cost,
    )


def _spent(count: float | None, cost: float | None) -> str:
    """Say what was spent: dollars where they are known, else tokens."""
    if cost is not None:
        return dollars(cost)
    return NONE if count is None else f"{tokens(int(count))} tok"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _text(text: str) -> Text:
    return Text(escape_controls(text), overflow="ellipsis", no_wrap=True)
