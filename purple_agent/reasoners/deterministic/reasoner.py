"""DeterministicReasoner: decides without a language model; the same input gives the same reply."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from purple_agent.case import Case, Dialect, Json, Reply, Say, Session, ToolSpec, Use
from purple_agent.facts import entity_read_by
from purple_agent.policy.rules import Rule
from purple_agent.reasoners.deterministic import wording
from purple_agent.reasoners.deterministic.dialogue_acts import DENIAL, GREETING, HUMAN, THANKS
from purple_agent.reasoners.deterministic.goal_executor import GoalExecutor, Outcome, Step
from purple_agent.reasoners.deterministic.goals import Goals, goals_of
from purple_agent.reasoners.deterministic.request import CLOSING, Request, request_of
from purple_agent.reasoners.deterministic.tools import ToolIndex, index_of
from purple_agent.reasoners.deterministic.utterance import utterance_of
from purple_agent.reasoners.deterministic.words import stems
from purple_agent.reasoners.reasoner import DETERMINISTIC

MAX_INDEXES: Final = 64
"""Most lists of tools to keep prepared."""
_POLICY_WORDS: Final = frozenset(stems("policy rule guideline threshold"))


class DeterministicReasoner:
    """Understands plain requests by rules, and says so if it does not.

    It finds the tools of a request by verbs and nouns, fills their slots from the words and from
    facts, asks once for missing values, reads before it writes, and follows the gate's ruling. If
    it is unsure about a policy in prose, it does not write. It reads everything it knows of a
    conversation from the session.
    """

    def __init__(self) -> None:
        self._indexes: dict[int, tuple[tuple[ToolSpec, ...], ToolIndex]] = {}

    def author(self, session: Session) -> str:  # noqa: ARG002 - the same for all
        """See `Reasoner`."""
        return DETERMINISTIC

    def flags(self, session: Session) -> tuple[str, ...]:  # noqa: ARG002 - there is no model
        """See `Reasoner`."""
        return ()

    async def next(self, case: Case) -> Reply:
        """Return the next reply."""
        session = case.session
        request, index = request_of(session), self._index(session.specs)
        executor = GoalExecutor(session=session, request=request, index=index)
        if HUMAN.search(request.current):
            said = " ".join(request.texts)[:400]
            step = _handover(executor, "", f"The user asked for a human. What was said: {said}")
            return (
                step if isinstance(step, Use) else Say(text=step.text.strip(), unable=step.unable)
            )
        goals = goals_of(request, index, _known(session, request))
        outcomes: list[Outcome] = []
        for goal in goals.calls:
            step = executor.advance(goal)
            if isinstance(step, Use):
                return step
            outcomes.append(step)
        if goals.unsupported:
            why = "I have no tool that does what you ask."
            asked = wording.shown(" ".join(goals.unsupported))
            step = _handover(executor, why, f"{why} Asked: {asked}")
            if isinstance(step, Use):
                return step
            outcomes.append(step)
        return _summed_up(executor, goals, outcomes) or _small_talk(request, goals, index)

    def _index(self, specs: tuple[ToolSpec, ...]) -> ToolIndex:
        """Prepare tools for matching, once for all conversations that have the same ones."""
        kept = self._indexes.get(id(specs))
        if kept is None or kept[0] is not specs:
            if len(self._indexes) >= MAX_INDEXES:
                self._indexes.clear()
            kept = self._indexes[id(specs)] = (specs, index_of(specs))
        return kept[1]


def _known(session: Session, request: Request) -> Mapping[str, Json]:
    """Return the facts, and the records in the wire's first message."""
    records = {
        entity_read_by(name): value
        for name, value in request.records
        if isinstance(value, dict | list)
    }
    return {**records, **session.facts}


def _handover(executor: GoalExecutor, why: str, summary: str) -> Step:
    """Hand over to a human, about the id that the user named last."""
    texts = reversed(executor.request.texts)
    ids = [each.text for text in texts for each in utterance_of(text).ids]
    return executor.escalate(why, subject=ids[0] if ids else "request", summary=summary)


# -- words -------------------------------------------------------------------------------------


def _summed_up(executor: GoalExecutor, goals: Goals, outcomes: list[Outcome]) -> Say | None:
    """Return the outcomes of the goals in words; None if there are none."""
    session = executor.session
    parts = [each.text for each in outcomes if not each.asks]
    questions = [each.text for each in outcomes if each.asks]
    if questions:
        return Say(text=" ".join([*parts, questions[0]]))
    parts += _policy_answers(session, goals)
    if not parts:
        return None
    text = "\n".join(dict.fromkeys(parts))
    if session.dialect is Dialect.TAU2 and wording.HANDED_OVER not in text:
        text = f"{text} {CLOSING}"
    return Say(text=text, unable=bool(outcomes) and all(each.unable for each in outcomes))


def _policy_answers(session: Session, goals: Goals) -> list[str]:
    """Return the rules of the policy if a question is about them."""
    is_asked = any(_POLICY_WORDS.intersection(stems(question)) for question in goals.questions)
    if not is_asked or not session.policy.rules:
        return []
    rules = "; ".join(f"{each.id}: {_in_words(each)}" for each in session.policy.rules[:10])
    return [f"The policy has these rules: {rules}."]


def _in_words(rule: Rule) -> str:
    when = f" if {rule.condition.text}" if rule.condition is not None else ""
    return rule.description or f"{rule.action.value.replace('_', ' ')}{when}"


def _small_talk(request: Request, goals: Goals, index: ToolIndex) -> Say:
    """Answer a text without a request."""
    if THANKS.search(request.current):
        return Say(text=f"You are welcome. {CLOSING}")
    if DENIAL.search(request.current):
        return Say(text=f"All right, I have done nothing more. {CLOSING}")
    is_greeting = GREETING.search(request.current) and len(stems(request.current)) <= 3
    if is_greeting or not request.current.strip():
        return Say(text=wording.GREETING)
    text = "I am not sure what you would like me to do."
    if goals.questions:
        text = "I do not know that, and I have no tool to look it up."
    return Say(text=f"{text} {wording.abilities(index)}What can I do for you?", unable=True)
