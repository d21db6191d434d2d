"""repair_sentences: what had to be repaired in an agent's replies, in words."""

from __future__ import annotations

from collections.abc import Mapping

from adk_agent.present.page.texts import count

_MEANINGS = {
    "think_block": "a <think> block was removed",
    "fenced": "the call was taken out of a fenced block",
    "json_tags": "the call was taken out of <json> tags",
    "surrounding_text": "the text before or after the call was dropped",
    "control_characters": "raw line breaks in a string were accepted",
    "extra_objects": "one of several calls was taken, and the others were dropped",
    "list": "a list of calls was read as calls",
    "tool_call_wrapper": "the call was taken out of a tool_call object",
    "tool_calls_wrapper": "the calls were taken out of a tool_calls list",
    "function_shape": "the call was read in OpenAI's function form",
    "arguments_as_text": "arguments written as a JSON string were decoded",
    "kwargs": "kwargs was read as arguments",
    "arguments_renamed": "parameters, args or input was read as arguments",
    "missing_arguments": "a call without arguments was made with none",
    "content_not_text": "what was said was no text, and was written as JSON",
    "calls_dropped": "calls beyond the limit of one reply were dropped",
    "plain_text": "it held no call, and was said to the user as it stood",
    "unparsable": "it looked like JSON and was not, and was said to the user as it stood",
    "empty": "it was empty",
}
"""The remedy for each kind of repair, as docs/agents.md lists them."""


def repair_sentences(kinds: Mapping[str, int]) -> list[str]:
    """Return a sentence for each kind of repair, the most frequent first.

    Args:
        kinds: Number of repairs by kind; a kind that is not known here is named as it is.
    """
    ordered = sorted(kinds.items(), key=lambda item: (-item[1], item[0]))
    return [
        f"In {count(times, 'reply', 'replies')}: {_MEANINGS[kind]} ({kind})."
        if kind in _MEANINGS
        else f"In {count(times, 'reply', 'replies')}: {kind}."
        for kind, times in ordered
    ]
