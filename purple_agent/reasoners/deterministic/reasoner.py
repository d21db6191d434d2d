"""DeterministicReasoner: decides without a language model; the same input gives the same reply."""

from __future__ import annotations

from collections.abc import Mapping

from purple_agent.case import Case, Dialect, Json, Reply, Say, Session, Use
from purple_agent.facts import entity_read_by
from purple_agent.policy.rules import Rule
from purple_agent.reasoners.deterministic import wording
from purple_agent.reasoners.deterministic.acts import Act, acts_in
from purple_agent.reasoners.deterministic.goals import Goals, goals_of
from purple_agent.reasoners.deterministic.index import Indexes
from purple_agent.reasoners.deterministic.matching import is_about_policy
from purple_agent.reasoners.deterministic.prose import Policies
from purple_agent.reasoners.deterministic.said import Said
from purple_agent.reasoners.deterministic.transcript import CLOSING, Thread, thread_of
from purple_agent.reasoners.deterministic.words import stems
from purple_agent.reasoners.deterministic.work import Outcome, Work
from purple_agent.reasoners.reasoner import DETERMINISTIC

_ABOUT_LEAVE = frozenset(stems("limit allowed permitted maximum"))


class DeterministicReasoner:
    """Understands plain requests by rules, and is honest about the rest.

    It finds the tools that a request names by verbs and nouns, fills their slots from the words and
    from facts, asks once for what is missing, reads before it writes, and follows the gate's
    ruling. A policy in prose that it is not sure of keeps it from writing. What it knows of a
    conversation it reads off the session each time; only tools and policies are kept prepared.
    """

    def __init__(self) -> None:
        self._indexes = Indexes()
        self._policies = Policies()

    def author(self, session: Session) -> str:  # noqa: ARG002 - the same for all
        """See `Reasoner`."""
        return DETERMINISTIC

    def flags(self, session: Session) -> tuple[str, ...]:  # noqa: ARG002 - there is no model
        """See `Reasoner`."""
        return ()

    async def next(self, case: Case) -> Reply:
        """The next reply."""
        session = case.session
        thread = thread_of(session)
        known = _known(session, thread)
        index = self._indexes.of(session.specs)
        prose = self._policies.of(session.policy_text if session.policy.is_prose else "")
        work = Work(session=session, thread=thread, index=index, prose=prose, known=known)
        if self._wants_human(thread):
            return self._handed_over(work)
        goals = goals_of(session, thread, index, known)
        outcomes: list[Outcome] = []
        steps = [
            *((work.on_write, goal) for goal in goals.writes),
            *((work.on_read, goal) for goal in goals.reads),
        ]
        for advance, goal in steps:
            step = advance(goal)
            if isinstance(step, Use):
                return step
            outcomes.append(step)
        if goals.unsupported and goals.writes:
            outcomes.append(Outcome(text=wording.PARTLY))
        elif goals.unsupported:
            step = self._unsupported(work, goals)
            if isinstance(step, Use):
                return step
            outcomes.append(step)
        return self._said(work, goals, outcomes)

    # -- humans ----------------------------------------------------------------------------

    def _wants_human(self, thread: Thread) -> bool:
        acts = acts_in(thread.current)
        offered = bool(thread.questions) and wording.OFFER_HUMAN in thread.questions[-1]
        return Act.HUMAN in acts or (offered and Act.CONFIRMATION in acts)

    def _handed_over(self, work: Work) -> Reply:
        return _handover(work, work.thread.texts)

    def _unsupported(self, work: Work, goals: Goals) -> Use | Outcome:
        asked = wording.shown(" ".join(goals.unsupported))
        text = "I have no tool that does what you ask."
        if work.session.dialect is Dialect.TAU2 and not work.prose.allows_transfer:
            return Outcome(text=f"{text} I am sorry.", unable=True)
        return work.escalated(text, subject=_subject(work), summary=f"{text} Asked: {asked}")

    # -- words -----------------------------------------------------------------------------

    def _said(self, work: Work, goals: Goals, outcomes: list[Outcome]) -> Say:
        thread, acts = work.thread, acts_in(work.thread.current)
        parts = [each.text for each in outcomes if not each.asks]
        if Act.COMPLIMENT in {act for text in thread.texts for act in acts_in(text)}:
            parts.append(wording.COMPLIMENT)
        questions = [each.text for each in outcomes if each.asks]
        if questions:
            return Say(text=" ".join([*parts, questions[0]]))
        parts.extend(self._policy_answers(work, goals))
        if parts:
            unable = bool(outcomes) and all(each.unable for each in outcomes)
            return Say(text=self._closed(work, parts), unable=unable)
        return self._small_talk(work, goals, acts)

    def _closed(self, work: Work, parts: list[str]) -> str:
        text = "\n".join(dict.fromkeys(parts))
        handed = wording.HANDED_OVER in text
        if handed and work.prose.transfer_message:
            return work.prose.transfer_message
        return text if handed or work.session.dialect is Dialect.BUSINESS else f"{text} {CLOSING}"

    def _policy_answers(self, work: Work, goals: Goals) -> list[str]:
        """What the policy says to a question that it is about."""
        answers = []
        for question in goals.questions:
            if not is_about_policy(question) and (
                goals.reads or not _ABOUT_LEAVE & set(stems(question))
            ):
                continue
            rules = work.session.policy.rules
            if rules:
                told = "; ".join(f"{rule.id}: {_in_words(rule)}" for rule in rules[:10])
                answers.append(f"The policy has these rules: {told}.")
            elif work.prose.nearest(question):
                answers.append(f"The policy says: {work.prose.nearest(question)}")
        return answers

    def _small_talk(self, work: Work, goals: Goals, acts: frozenset[Act]) -> Say:
        if Act.THANKS in acts:
            return Say(text=f"{wording.WELCOME} {CLOSING}")
        if Act.DENIAL in acts:
            return Say(text=f"All right, I have done nothing more. {CLOSING}")
        if goals.questions:
            known = self._from_facts(work, goals)
            unknown = f"I do not know that, and I have no tool to look it up. {CLOSING}"
            return Say(text=known or unknown, unable=not known)
        if Act.CHIT_CHAT in acts:
            fixed = "I am an assistant that follows fixed rules."
            return Say(text=f"{fixed} {wording.abilities(work.index)}{wording.GREETING}")
        is_greeting = Act.GREETING in acts and len(stems(work.thread.current)) <= 3
        if is_greeting or not work.thread.current.strip():
            return Say(text=wording.GREETING)
        unsure = "I am not sure what you would like me to do."
        abilities = wording.abilities(work.index)
        return Say(text=f"{unsure} {abilities}What can I do for you?", unable=True)

    def _from_facts(self, work: Work, goals: Goals) -> str:
        """Facts whose entity a question names."""
        parts = []
        for question in goals.questions:
            wanted = set(stems(question))
            for entity, value in work.known.items():
                if wanted & set(stems(entity)) or (
                    isinstance(value, dict) and wanted & {s for key in value for s in stems(key)}
                ):
                    parts.append(wording.told(entity, value, question))
        return " ".join(dict.fromkeys(parts))


def _in_words(rule: Rule) -> str:
    """A rule as it is told to somebody who asks."""
    when = f" if {rule.condition.text}" if rule.condition is not None else ""
    return rule.description or f"{rule.action.value.replace('_', ' ')}{when}"


def _handover(work: Work, texts: tuple[str, ...]) -> Reply:
    """The handover that the user asked for."""
    summary = f"The user asked for a human. What was said: {' '.join(texts)[:400]}"
    step = work.escalated("", subject=_subject(work), summary=summary)
    if isinstance(step, Use):
        return step
    if wording.HANDED_OVER in step.text:
        return Say(text=work.prose.transfer_message or wording.HANDED_OVER)
    return Say(text="I have no way to reach a human from here. I am sorry.", unable=True)


def _subject(work: Work) -> str:
    ids = [each.text for text in reversed(work.thread.texts) for each in Said.of(text).ids]
    return ids[0] if ids else "request"


def _known(session: Session, thread: Thread) -> Mapping[str, Json]:
    """Facts, and records that the wire's first message told; lists under their own names."""
    told = {
        entity_read_by(name): value
        for name, value in thread.records
        if isinstance(value, dict | list)
    }
    return {**told, **session.facts}
