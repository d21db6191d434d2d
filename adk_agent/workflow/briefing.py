"""Briefing: the instruction of the selector's model, with what there is and what was said."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cached_property

from adk_agent.core.escaping import one_line
from adk_agent.requests.agents import BUNDLED_AGENTS, BUNDLED_TEAMS
from adk_agent.requests.intent import Situation
from adk_agent.workflow.prompts import prompt
from tau_bridge.benchmarks import Benchmarks

MOST_NAMED = 50
"""Most registered agents that the model is told of; the person may name any."""
_MOST_HEARD = 10
_MOST_CHARS = 1_000
_REGISTERING = (
    ", and register_agent if the person asks to remember an agent under a name; if that is all "
    "they want, answer with `list` of `agents`"
)


class Briefing:
    """Writes the instruction.

    Args:
        benchmarks: What can be played.
        may_register: True if the model may register agents.
    """

    def __init__(self, benchmarks: Benchmarks, *, may_register: bool) -> None:
        self._benchmarks = benchmarks
        self._may_register = may_register

    def of(self, situation: Situation) -> str:
        """Return the instruction for one message."""
        question = situation.question
        asked = None if question is None else f"{question.request}\n{question.text}".strip()
        return prompt(
            "selector",
            {
                "registering": _REGISTERING if self._may_register else "",
                "domains": self._domains,
                "bundled": ", ".join(_bundled()),
                "registered": _named(situation.registered),
                "heard": _quoted(situation.heard[-_MOST_HEARD:]),
                "runs": _quoted(situation.run_ids[:_MOST_HEARD]),
                "question": "none" if asked is None else _quoted([asked]),
            },
        )

    @cached_property
    def _domains(self) -> str:
        lines = []
        for benchmark in self._benchmarks.all:
            for domain in benchmark.domains():
                sizes = ", ".join(
                    f"{split} {len(benchmark.task_ids(domain.name, split))}"
                    for split in benchmark.splits(domain.name)
                )
                lines.append(f"- {domain.name} ({benchmark.name}): {sizes}")
        return "\n".join(lines)


def _bundled() -> Iterable[str]:
    yield from (f"builtin:{name}" for name in BUNDLED_AGENTS)
    yield from (f"builtin:team:{name}" for name in BUNDLED_TEAMS)


def _named(registered: Mapping[str, str]) -> str:
    shown = [f"{name} = {address}" for name, address in list(registered.items())[:MOST_NAMED]]
    return ", ".join(shown) or "none"


def _quoted(texts: Iterable[str]) -> str:
    quoted = [json.dumps(one_line(text, _MOST_CHARS), ensure_ascii=False) for text in texts]
    return ", ".join(quoted) or "none"
