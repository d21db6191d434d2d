"""Descriptions of business scenarios: texts to be searched, and attributes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tau_bridge.business.scenarios import GoldCall, Scenario
from tau_bridge.business.tools import Find, Get, GetApproval


def passages_of(scenario: Scenario) -> Mapping[str, str]:
    """Return everything that tells what a scenario is about, by name; its policy is not part."""
    passages = {
        "process": scenario.process.replace("_", " "),
        "request": scenario.opening,
        "later messages": "\n".join(line.text for line in scenario.lines),
        "solution": "\n".join(map(_words, _gold_calls(scenario))),
    }
    return {name: text for name, text in passages.items() if text}


def attributes_of(scenario: Scenario) -> Mapping[str, str]:
    """Return the facts about a scenario that it can be chosen by."""
    writing = writing_tools(scenario)
    calls = list(_gold_calls(scenario))
    changes = sum(call.tool in writing for call in calls)
    return {
        "process": scenario.process,
        "outcome": scenario.expected.outcome,
        "gold_actions": str(len(calls)),
        "changes": str(changes),
        "writes": "yes" if changes else "no",
        "needs_judge": "no",
        "passed_by_doing_nothing": "yes" if scenario.kind.asks_nothing else "no",
    }


def writing_tools(scenario: Scenario) -> frozenset[str]:
    """Return the tools whose effects change something."""
    return frozenset(
        tool.name
        for tool in scenario.tools
        if not isinstance(tool.effect, Get | Find | GetApproval)
    )


def _gold_calls(scenario: Scenario) -> Iterator[GoldCall]:
    return (call for turn in scenario.gold for call in turn.calls)


def _words(call: GoldCall) -> str:
    given = ", ".join(each for each in call.params.values() if isinstance(each, str))
    return f"{call.tool} ({given})".replace("_", " ")
