"""`--dry-run`: how a message was read, without doing anything about it."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from typing import Any

from adk_agent.cli.edge import OK, USAGE
from adk_agent.cli.flags import playing_flags
from adk_agent.cli.message import Message, plan_of
from adk_agent.cli.terminal import say, write_data
from adk_agent.conversation.replies import Asked, Reading, Refused, Reply
from adk_agent.core.errors import RequestError
from adk_agent.core.plan import EvaluationPlan
from adk_agent.requests.description import describe, equivalent_command
from adk_agent.requests.intent import Ask, Evaluate, Intent, Refuse


def show_plan(reply: Reply, reading: Reading, parsed: argparse.Namespace) -> int:
    """Print the plan of a request.

    Raises:
        RequestError: There is none; the message says why, or what is asked.
    """
    plan = plan_of(reply)
    if plan is None:
        if isinstance(reply, Refused):
            raise RequestError(reply.text)
        raise RequestError(reply.question.text if isinstance(reply, Asked) else "there is no plan")
    if parsed.json:
        _print_json({**plan.model_dump(mode="json"), **_facts(reply, reading)})
        return OK
    _print_plan(plan, reply, reading, parsed)
    return OK


def show_intent(message: Message, reading: Reading) -> int:
    """Print what a message wants; of an evaluation, the plan."""
    parsed, intent = message.parsed, reading.intent
    if not isinstance(intent, Evaluate):
        return _show(intent, reading, parsed)
    reply = message.reply(reading, confirmed=False)
    plan = plan_of(reply)
    if plan is None:
        why = reply.text if isinstance(reply, Refused) else ""
        return _show(Refuse(reason=why), reading, parsed)
    if parsed.json:
        _print_json({**_facts(reply, reading), "plan": plan.model_dump(mode="json")})
        return OK
    _print_plan(plan, reply, reading, parsed)
    return OK


def _show(intent: Intent, reading: Reading, parsed: argparse.Namespace) -> int:
    code = USAGE if isinstance(intent, Ask | Refuse) else OK
    fields = {"intent": intent.intent, **intent.model_dump(mode="json")}
    if parsed.json:
        _print_json({**fields, "read_by": reading.read_by})
        return code
    if isinstance(intent, Ask | Refuse):
        text = intent.question if isinstance(intent, Ask) else intent.reason
        say(f"greenroom: {text}", file=sys.stderr)
        return code
    given = {name: value for name, value in fields.items() if name != "intent" and value}
    told = "".join(f"\n  {name}: {value}" for name, value in given.items())
    say(f"Intent: {intent.intent}{told}\nRead by {reading.read_by}")
    return code


def _facts(reply: Reply, reading: Reading) -> dict[str, Any]:
    unused = reading.intent.unused if isinstance(reading.intent, Evaluate) else ()
    return {
        "intent": reading.intent.intent,
        "needs_confirmation": isinstance(reply, Asked),
        "unused": list(unused),
        "read_by": reading.read_by,
    }


def _print_plan(
    plan: EvaluationPlan, reply: Reply, reading: Reading, parsed: argparse.Namespace
) -> None:
    say(describe(plan))
    say(f"Read by {reading.read_by}")
    if isinstance(reply, Asked):
        doubts = reply.question.doubts
        say("\n".join(["", "To be confirmed (--yes):", *(f"  {each}" for each in doubts)]))
    command = f"{equivalent_command(plan)} {shlex.join(playing_flags(parsed))}".rstrip()
    say(f"\nThe same, explicitly:\n{command}")


def _print_json(value: dict[str, Any]) -> None:
    write_data(json.dumps(value, indent=2, ensure_ascii=False))
