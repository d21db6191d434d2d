"""`greenroom run`."""

from __future__ import annotations

import argparse
import asyncio
import shlex

from adk_agent.cli.chosen import add_choice, refuse_without_agent
from adk_agent.cli.dry_run import show_plan
from adk_agent.cli.message import Message, add_message, text_of
from adk_agent.conversation.replies import Reading
from adk_agent.core.errors import RequestError
from adk_agent.requests.intent import Ask, Evaluate, Refuse

_MOST_QUOTED = 200


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description = "Evaluate agents. Flags override the request."
    parser.epilog = (
        'example: greenroom run "Evaluate the agent at http://127.0.0.1:9010 on five DOMAIN '
        'tasks, two trials each"; greenroom list domains names the domains'
    )
    parser.add_argument(
        "request", nargs="?", help="a sentence, or AgentBeats JSON; - reads standard input"
    )
    add_choice(parser)
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="print the plan and the explicit command; contact no agent",
    )
    add_message(parser)


def execute(parsed: argparse.Namespace) -> int:
    """Evaluate agents and return the exit code."""
    if parsed.agent is None:
        if parsed.request is None:
            raise RequestError("nothing to evaluate: write a sentence, or --agent URL --tasks FILE")
        refuse_without_agent(parsed)
    elif parsed.request is not None:
        raise RequestError("write a sentence or --agent, not both")
    text = "" if parsed.request is None else text_of(parsed.request)
    with asyncio.Runner() as loop:
        message = Message.of(text, parsed, loop)
        reading = message.read() if parsed.agent is None else message.chosen()
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
