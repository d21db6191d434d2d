"""`greenroom ask`: anything that can be said about evaluations, in plain English."""

from __future__ import annotations

import argparse
import asyncio

from adk_agent.cli.dry_run import show_intent
from adk_agent.cli.flags import A_RUN, refuse_models_offline, run_of
from adk_agent.cli.message import Message, add_message, text_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description = (
        "Ask about evaluations, runs and terms, or evaluate, repeat, compare and export."
    )
    parser.epilog = 'example: greenroom ask "why did task 3 fail?" --run RUN'
    parser.add_argument("text", help="a question or request in plain English; - reads stdin")
    parser.add_argument("--run", metavar="RUN", help=A_RUN)
    parser.add_argument(
        "--dry-run", action="store_true", help="print how it is read; do nothing about it"
    )
    add_message(parser)


def execute(parsed: argparse.Namespace) -> int:
    """Answer a message and return the exit code."""
    refuse_models_offline(parsed)
    text = text_of(parsed.text)
    with asyncio.Runner() as loop:
        run_ids = () if parsed.run is None else (run_of(parsed)[1],)
        message = Message.of(text, parsed, loop, run_ids=run_ids)
        reading = message.read()
        if parsed.dry_run:
            return show_intent(message, reading)
        return message.act(message.reply(reading, confirmed=parsed.yes), reading)
