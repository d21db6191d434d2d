"""Registering: which agents a language model may remember for the person."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from adk_agent.core.errors import RequestError
from adk_agent.requests.agents import agent_key
from adk_agent.requests.guards import Said
from adk_agent.requests.intent import Situation
from adk_agent.requests.language.vocabulary import Vocabulary
from adk_agent.requests.registry import checked_name, checked_url


def not_to_be_registered(
    args: Mapping[str, Any], asked: str, registered: Mapping[str, str], vocabulary: Vocabulary
) -> str | None:
    """Return why the model must not register this agent; None if it may.

    The message must name the address and the name, and may not take a name away from its owner.
    """
    try:
        name = checked_name(str(args.get("name")), vocabulary)
        url = checked_url(str(args.get("url")))
    except RequestError as error:
        return str(error)
    said = Said.in_situation(asked, Situation(), vocabulary)
    named = re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", asked.lower())
    if agent_key(url) not in said.addresses() or not named:
        return f"the request does not ask to register {url} as {name!r}: do not"
    for argument in ("token_env", "token_file", "credentials"):
        if args.get(argument) and str(args[argument]) not in asked:
            return f"the request does not name the {argument} {args[argument]!r}: do not"
    if registered.get(name, url) != url:
        return f"{name!r} is already {registered[name]}; only its owner may register it again"
    return None
