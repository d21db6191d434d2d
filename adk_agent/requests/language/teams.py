"""Teams: reads whether several agents are compared, or are one team with roles."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from adk_agent.core.plan import BUILTIN_PREFIX, Participant
from adk_agent.requests.agents import (
    BUNDLED_AGENTS,
    BUNDLED_TEAMS,
    TEAM_PREFIX,
    agent_key,
    with_roles,
)
from adk_agent.requests.language import lexicon
from adk_agent.requests.language.phrases import Sentence
from adk_agent.requests.refusal import Refusal

_TEAM = (
    "(as|into|in|be|form|forms|are|is|of|make|makes|makes up) (a|one|the same|single) (good|single)? "
    "(team|duo|trio|crew|squad|ensemble)",
    "(our|my|the|a|this|support|whole|as a|one)* (team|duo|trio|crew|squad|ensemble) (of|consists of|consisting of|is|are)?",
    "(they|who|them|all)* (work|works|working|play|plays|acting|act)? (together|jointly) (as a whole)?",
    "as a whole",
)
_JOINERS = lexicon.words("and or vs versus v against with than plus beside n")
_COMPARED = lexicon.words("compare comparison compared comparing versus vs twin")
_JOINT = "(at|is|is at|:|-|OPEN|,|the|on|called|named|runs at|lives at)"


def read_participants(sentence: Sentence) -> tuple[tuple[Participant, ...], str | None]:
    """Return the agents of a sentence with their roles, and the entry of their team if they are one.

    Raises:
        Refusal: `no-agent`; `ambiguous` for a choice of agents, or a team without roles.
    """
    everyone = _all_bundled(sentence)
    if everyone:
        return with_roles(everyone), None
    agents = [index for index, token in enumerate(sentence.tokens) if token.kind == "agent"]
    if not agents:
        raise Refusal("no-agent", "no agent is named to evaluate: give its address with http://")
    addresses = _distinct(sentence.tokens[index].value for index in agents)
    _take_bundled_teams(sentence)
    if len(addresses) == 1 and any(token.text in _COMPARED for token in sentence.tokens):
        raise Refusal("ambiguous", f"compare {addresses[0]} with which agent? Name both")
    is_team = len(addresses) > 1 and _is_team(sentence)
    roles = _roles(sentence, agents, is_named_team=is_team) if len(addresses) > 1 else None
    sentence.use(agents)
    if is_team and roles is None:
        raise Refusal(
            "ambiguous",
            "which role has each agent of the team? Write, for example, 'planner http://..., coder "
            "http://...' ; the first one answers for the team",
        )
    if roles is None:
        return with_roles(addresses), None
    members = tuple(
        Participant(role=role, address=sentence.tokens[index].value)
        for index, role in zip(agents, roles, strict=True)
    )
    return members, members[0].role


def _all_bundled(sentence: Sentence) -> list[str]:
    """Return the addresses of all bundled agents or teams, if the sentence means all of them."""
    for nouns, names, prefix in (
        ("(agents|agent)", BUNDLED_AGENTS, BUILTIN_PREFIX),
        ("(teams|team)", BUNDLED_TEAMS, BUILTIN_PREFIX + TEAM_PREFIX),
    ):
        notation = f"(all|every|each|the) (of)? (the|your)* (bundled|builtin) {nouns}"
        if not any(token.kind == "agent" for token in sentence.tokens) and sentence.take(notation):
            return [prefix + name for name in names]
    return []


def refuse_choice(sentence: Sentence) -> None:
    """Refuse `A or B`, unless the sentence compares agents; then take the `or`.

    Raises:
        Refusal: `ambiguous`.
    """
    for found in list(sentence.find("A (,)? or (the)? A")):
        tokens = [sentence.tokens[index] for index in found]
        if not any(token.text in lexicon.COMPARING for token in sentence.tokens):
            named = [token.text for token in tokens if token.kind == "agent"]
            raise Refusal(
                "ambiguous", f"{named[0]!r} or {named[-1]!r}? Name one, or both with 'and'"
            )
        sentence.use([index for index in found if sentence.tokens[index].kind != "agent"])


def unjoined(sentence: Sentence) -> list[str]:
    """Return questions about agents that nothing joins to the one before, such as `null at http://...`."""
    agents = [index for index, token in enumerate(sentence.tokens) if token.kind == "agent"]
    return [
        f"Are {sentence.tokens[one].text!r} and {sentence.tokens[other].text!r} two agents to evaluate?"
        for one, other in pairwise(agents)
        if agent_key(sentence.tokens[one].value) != agent_key(sentence.tokens[other].value)
        and not any(
            token.kind in ("end", "mark") or token.text in _JOINERS
            for token in sentence.tokens[one + 1 : other]
        )
    ]


def _distinct(addresses: Iterable[str]) -> list[str]:
    found: dict[str, str] = {}
    for address in addresses:
        found.setdefault(agent_key(address), address)
    return list(found.values())


def _take_bundled_teams(sentence: Sentence) -> None:
    """Use the word `team` beside a bundled team, which it only describes."""
    prefix = BUILTIN_PREFIX + TEAM_PREFIX
    for notation in ("(team|teams) (of|:)? A", "A (team|teams)"):
        for found in list(sentence.find(notation)):
            agent = next(i for i in found if sentence.tokens[i].kind == "agent")
            if sentence.tokens[agent].value.startswith(prefix):
                sentence.use([i for i in found if i != agent])


def _is_team(sentence: Sentence) -> bool:
    taken = [tokens for notation in _TEAM for tokens in sentence.take(notation)]
    return bool(taken)


def _roles(
    sentence: Sentence, agents: Sequence[int], *, is_named_team: bool
) -> tuple[str, ...] | None:
    """Return the role of each agent if all of them have one, and use their words."""
    for notation in (f"W {_JOINT}* A", "A OPEN? (as|is|,|:|-)* (the|our|a|an)* W"):
        found = {}
        for match in sentence.find(notation):
            agent = next(i for i in match if sentence.tokens[i].kind == "agent")
            word = match[0] if sentence.tokens[match[0]].kind == "word" else match[-1]
            if _is_role(sentence.tokens[word].text, is_named_team=is_named_team):
                found[agent] = (sentence.tokens[word].text, match)
        if len(found) == len(agents) and len({role for role, _ in found.values()}) == len(agents):
            for _, match in found.values():
                sentence.use([i for i in match if sentence.tokens[i].kind == "word"])
            return tuple(found[agent][0] for agent in agents)
    return None


def _is_role(word: str, *, is_named_team: bool) -> bool:
    if lexicon.is_known(word) or word in lexicon.NOT_ROLES | lexicon.COMPARING:
        return False
    return is_named_team or word.endswith(("er", "or", "ist", "yst", "lead"))
