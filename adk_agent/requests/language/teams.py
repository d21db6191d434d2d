"""Teams: reads whether several agents are compared, or are one team with roles."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from adk_agent.core.plan import BUILTIN_PREFIX, Participant
from adk_agent.requests.agents import (
    AGENTS_IN_WORDS,
    BUNDLED_TEAMS,
    TEAM_PREFIX,
    agent_key,
    bundled_hint,
    with_roles,
)
from adk_agent.requests.language import lexicon
from adk_agent.requests.language.phrases import Sentence
from adk_agent.requests.refusal import Refusal

_TEAM = (
    "(as|into|in|be|form|forms|are|is|of|make|makes|makes up) (a|one|the same|single) (good|single)? "
    "TEAM|(our|my|the|a|this|support|whole|as a|one) TEAM (of|consists of|consisting of|is|are)?|"
    "TEAM (of|consists of|consisting of|:)|START TEAM|"
    "(they|who|them|all)* (work|works|working|play|plays|acting|act)? (together|jointly) "
    "(as a whole)?|as a whole"
)
_JOINT = "(at|is|is at|:|-|OPEN|,|the|on|runs|called|named|runs at|lives at)"
_ROLES = (f"W {_JOINT}* A", "A OPEN? (as|is|be|acts|serves|works|,|:|-)* (the|our|a|an)* W")
_JOINERS = lexicon.words("and or vs versus v against with than plus beside n")
_IT = "(put|run|test|evaluate|give|let|try|assess|check|measure|benchmark) it"
_COMPARED = "(compare|comparison|compared|comparing|versus|vs) !D !the_D|twin"
_OTHER_ONE = (
    "(vs|versus|against|or|and|with) (-|the|a|an|its|our|my|their)* (new|other|old|second|staging)? "
    "(-)? (one|ones|twin) !of !each !TEAM !OPEN"
)
_NOT_ROLES = lexicon.COMPARING | lexicon.words(
    "second old small large left user customer order number before after their whether however"
)


def read_participants(sentence: Sentence) -> tuple[tuple[Participant, ...], str | None]:
    """Return the agents of a sentence with their roles, and the entry of their team if they are one.

    Raises:
        Refusal: `no-agent`; `ambiguous` for a choice of agents, or a team without roles.
    """
    agents = sentence.of_kind("agent")
    values = sentence.values("agent") or _all_bundled(sentence)
    _refuse_misspelled(sentence, is_nobody_named=not values)
    if not values:
        raise Refusal(
            "no-agent",
            "no agent is named to evaluate: give its address with http:// and port, or a bundled agent "
            "such as builtin:null",
        )
    keys = [agent_key(value) for value in values]
    addresses = [value for at, value in enumerate(values) if keys[at] not in keys[:at]]
    for notation in ("(team|teams) (of|:)? A", "A (team|teams)"):
        for found in sentence.find(notation):
            if sentence.values("agent", found)[0].startswith(BUILTIN_PREFIX + TEAM_PREFIX):
                sentence.place(found)  # only describes a bundled team
    if len(addresses) == 1:
        if any(sentence.find(_COMPARED)):
            raise Refusal("ambiguous", f"compare {addresses[0]} with which agent? Name both")
        sentence.take("team|teams")
        return with_roles(addresses), None
    if any(sentence.find(_OTHER_ONE)):
        raise Refusal("ambiguous", "which other agent? Name each of them")
    bundled_team = any(value.startswith(BUILTIN_PREFIX + TEAM_PREFIX) for value in values)
    is_team = bool(sentence.take(_TEAM)) and not bundled_team
    roles = _roles(sentence, agents, is_named_team=is_team)
    if roles:
        members = tuple(Participant(role=r, address=a) for r, a in zip(roles, values, strict=True))
        return members, members[0].role
    if is_team:
        raise Refusal(
            "ambiguous",
            "which role has each agent of the team? Write, for example, 'planner http://..., coder "
            "http://...'; the first one answers for the team",
        )
    return with_roles(addresses), None


def _refuse_misspelled(sentence: Sentence, *, is_nobody_named: bool) -> None:
    """Refuse a word in the place of an agent's name that is nearly a bundled agent's."""
    join = "(,|and|, and|or|vs|versus|against)"
    forms = ("W (AGENT|AGENTS)", f"W {join} A", f"A {join} W", *(("W",) if is_nobody_named else ()))
    for word in (index for form in forms for found in sentence.find(form) for index in found):
        said = sentence.text_at(word)
        if sentence.is_unknown(word) and (hint := bundled_hint(said)):
            raise Refusal("unknown-agent", f"there is no agent {said!r}: {hint}")


def _all_bundled(sentence: Sentence) -> list[str]:
    """Return the addresses of all bundled agents or teams, if the sentence means all of them."""
    for noun, names, prefix in (
        ("agent", AGENTS_IN_WORDS, BUILTIN_PREFIX),
        ("team", BUNDLED_TEAMS, BUILTIN_PREFIX + TEAM_PREFIX),
    ):
        every = f"(all|every|each|the) (of)? (the|your)* (bundled|builtin) ({noun}|{noun}s)"
        if sentence.take(every):
            return [prefix + name for name in names]
    return []


def refuse_choice(sentence: Sentence) -> None:
    """Refuse `A or B`, unless the sentence compares agents; then take the `or`.

    Raises:
        Refusal: `ambiguous`.
    """
    for found in sentence.find("A (,)? or (the)? A"):
        if lexicon.COMPARING.isdisjoint(token.text for token in sentence.tokens):
            one, other = (sentence.text_at(index) for index in sentence.of_kind("agent", found))
            raise Refusal("ambiguous", f"{one!r} or {other!r}? Name one, or both with 'and'")
        sentence.place(found)


def unjoined(sentence: Sentence) -> list[str]:
    """Return questions about agents that nothing joins to the one before: `null at http://...`."""
    tokens = sentence.tokens
    if len(set(sentence.values("agent"))) > 1 and any(sentence.find(_IT)):
        return ["Do you mean all of these agents?"]
    return [
        f"Are {tokens[one].text!r} and {tokens[other].text!r} two agents to evaluate?"
        for one, other in pairwise(sentence.of_kind("agent"))
        if agent_key(tokens[one].value) != agent_key(tokens[other].value)
        and not any(
            token.kind in ("end", "mark") or token.text in _JOINERS
            for token in tokens[one + 1 : other]
        )
    ]


def _roles(
    sentence: Sentence, agents: Sequence[int], *, is_named_team: bool
) -> tuple[str, ...] | None:
    """Return the role of each agent if all of them have one, and use their words."""
    for notation in _ROLES:
        found = {}
        for match in sentence.find(notation):
            word = match[0] if sentence.tokens[match[0]].kind == "word" else match[-1]
            role = sentence.text_at(word)
            if _is_role(role, is_named_team=is_named_team):
                found[sentence.of_kind("agent", match)[0]] = role, match
        if len(found) == len(agents) == len({role for role, _ in found.values()}):
            for _, match in found.values():
                sentence.place(sentence.of_kind("word", match))
            return tuple(found[agent][0] for agent in agents)
    return None


def _is_role(word: str, *, is_named_team: bool) -> bool:
    """Tell whether a word may be the role of a member."""
    if lexicon.is_known(word) or word in _NOT_ROLES:
        return False
    return is_named_team or word.endswith(("er", "or", "ist", "yst", "lead"))
