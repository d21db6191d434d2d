"""The installed `greenroom` command: signals first, then all that takes time to import."""

from typing import NoReturn

from adk_agent.early_signals import end_by_signals


def console() -> NoReturn:
    """Run the command and end the process."""
    end_by_signals()
    from adk_agent.cli.main import console as run

    run()
