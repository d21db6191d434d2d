"""ScriptedUser: the user of a scenario, who answers by simple rules."""

from __future__ import annotations

from tau_bridge.business.scenarios import Line, Scenario
from tau_bridge.phrases import contains_phrase, normalize


class ScriptedUser:
    """The user, who says each of a scenario's lines at most once, and nothing more when none fits."""

    def __init__(self, scenario: Scenario) -> None:
        self.opening = scenario.opening
        self._left = list(scenario.lines)

    def next(self, answer: str) -> Line | None:
        """Return the next line: one that the answer asks for, else one that waits for nothing.

        None ends the conversation.
        """
        said = normalize(answer)
        fitting = [
            line for line in self._left if any(contains_phrase(said, text) for text in line.asked)
        ]
        fitting += [line for line in self._left if not line.asked]
        if not fitting:
            return None
        self._left.remove(fitting[0])
        return fitting[0]
