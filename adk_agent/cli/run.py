"""`greenroom run`."""

from __future__ import annotations

import argparse
import asyncio
import shlex

from adk_agent.cli.chosen import add_choice, refuse_choice, require_choice
from adk_agent.cli.config import add_config, config_of, with_config
from adk_agent.cli.dry_run import show_plan
from adk_agent.cli.flags import refuse_models_offline
from adk_agent.cli.message import Message, add_message, text_of
from adk_agent.cli.selecting import Entries
from adk_agent.conversation.replies import Reading
from adk_agent.core.errors import RequestError
from adk_agent.requests.config_file.model import FILE
from adk_agent.requests.intent import Ask, Evaluate, Refuse

_MOST_QUOTED = 200


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description = (
        f"Evaluate agents: from a sentence, by flags, or as {FILE} says. Flags override both."
    )
    parser.epilog = (
        'example: greenroom run "Evaluate the agent at http://127.0.0.1:9010 on five DOMAIN '
        'tasks, two trials each"; greenroom list domains names the domains'
    )
    parser.add_argument(
        "request", nargs="?", help="a sentence, or AgentBeats JSON; - reads standard input"
    )
    add_config(parser)
    add_choice(parser)
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="print the plan and the explicit command; contact no agent",
    )
    add_message(parser)


def execute(parsed: argparse.Namespace) -> int:
    """Evaluate agents and return the exit code."""
    refuse_models_offline(parsed)
    config = config_of(parsed)
    if config is not None:
        parsed = with_config(parsed, config)
    entries = Entries.of(parsed, config if parsed.request is None else None)
    if parsed.request is None:
        require_choice(parsed, config, entries)
    else:
        refuse_choice(parsed, config)
    text = "" if parsed.request is None else text_of(parsed.request)
    with asyncio.Runner() as loop:
        message = Message.of(text, parsed, loop, config=config, entries=entries)
        reading = message.chosen() if parsed.request is None else message.read()
        _refuse_others(reading, text)
        reply = message.reply(reading, confirmed=parsed.yes)
        if parsed.dry_run:
            return show_plan(reply, reading, parsed)
        return message.act(reply, reading)


def _refuse_others(reading: Reading, text: str) -> None:
    """Refuse what is no request for an evaluation.

    Raises:
        RequestError: It is none.
    """
    if isinstance(reading.intent, Evaluate | Ask | Refuse):
        return
    quoted = shlex.quote(" ".join(text.split())[:_MOST_QUOTED])
    raise RequestError(f"this asks for no evaluation; to have it answered: greenroom ask {quoted}")
