"""Writes that an agent repeats under a fault, counted from the calls that ran."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from tau_bridge.chaos.injector import InjectedFault


def repeated_writes(
    under_fault: Sequence[Mapping[str, Any]],
    plain: Sequence[Mapping[str, Any]],
    faults: Sequence[InjectedFault],
    writes: Callable[[str], bool],
) -> int:
    """Count the writes that ran more often under faults than the plain trial ran them.

    A write is a call of a tool that changes the world, with equal arguments. The first run of each
    is free: only what is done over again counts.
    """
    before = Counter(_signature(call) for call in _run(plain, ()) if writes(call["name"]))
    after = Counter(_signature(call) for call in _run(under_fault, faults) if writes(call["name"]))
    return sum(max(0, count - max(1, before[write])) for write, count in after.items())


def blind_writes(
    messages: Sequence[Mapping[str, Any]],
    faults: Sequence[InjectedFault],
    writes: Callable[[str], bool],
) -> int:
    """Count the writes repeated although the result of the first is unknown, with no look between.

    A look is any call of a tool that only reads.
    """
    unknown = _ids(faults, "tool_timeout")
    open_writes: set[str] = set()
    found = 0
    for call in _run(messages, faults):
        if not writes(call["name"]):
            open_writes.clear()
            continue
        found += _signature(call) in open_writes
        if call["id"] in unknown:
            open_writes.add(_signature(call))
    return found


def _run(
    messages: Sequence[Mapping[str, Any]], faults: Sequence[InjectedFault]
) -> Iterator[Mapping[str, Any]]:
    """Yield the agent's calls that ran and did not fail, in order."""
    unknown = _ids(faults, "tool_timeout")
    failed = {
        message["id"] for message in messages if message["role"] == "tool" and message.get("error")
    }
    ended = {message["id"] for message in messages if message["role"] == "tool"}
    for message in messages:
        for call in message.get("tool_calls") or () if message["role"] == "assistant" else ():
            if call["id"] in ended and (call["id"] in unknown or call["id"] not in failed):
                yield call


def _ids(faults: Sequence[InjectedFault], kind: str) -> Collection[str | None]:
    return {fault.call_id for fault in faults if fault.kind == kind}


def _signature(call: Mapping[str, Any]) -> str:
    return json.dumps([call["name"], call["arguments"]], sort_keys=True, default=str)
