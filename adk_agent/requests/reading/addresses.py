"""Addresses: finds the agents that a sentence names, and addresses that it names for other reasons.

An address is a participant's unless its own clause says otherwise: that it is not to be contacted,
that something is sent to it or read from it, or that it is another kind of service. If this is
unclear, the address is left out: refusing a request for lack of an agent is better than calling an
agent that the user did not ask for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from adk_agent.core.plan import BUILTIN_PREFIX, Participant
from adk_agent.requests.reading.vocabulary import Vocabulary
from adk_agent.requests.reading.words import (
    BUNDLED_AGENTS,
    BUNDLED_TEAMS,
    TEAM_FAULTS,
    alternatives,
    did_you_mean,
)
from adk_agent.requests.refusal import Refusal
from tau_bridge.a2a.address import AddressError, AgentAddress
from tau_bridge.teams import teams

AGENT_MARK = "\ue000"
"""Replaces an address or a bundled agent's name in the text."""

_ENDS = r"""\s<>"'`|\\^{}\[\](),;*“”‘’«»"""
_URL = re.compile(
    rf"(?P<url>\b[A-Za-z][A-Za-z0-9+.\-]*://(?:\[[0-9A-Fa-f:.]*\])?[^{_ENDS}]*)"
    r"|(?P<builtin>\b(?:built-?in:\s?(?!team)[\w\-]*|(?:built-?in:\s?)?team:\s?[\w\-]*"
    r"(?:\+\w+:[\w\-]+(?:@[0-9]*(?:\.[0-9]+)?)?)*))"
    r"|(?P<broken>\bhttps?(?::?/{1,2}(?!/)|:\\+|:(?=[A-Za-z0-9]))[^\s]+)"
    r"|(?<![\w./:@\-])(?P<bare>(?:\[[0-9A-Fa-f:]+\]|[A-Za-z0-9](?:[A-Za-z0-9.\-]*[A-Za-z0-9])?)"
    rf":[0-9]{{2,6}}(?![\w:])(?:/[^{_ENDS}]*)?)",
    re.IGNORECASE,
)
_TRAILING = ".!?:…"
_HOST = re.compile(r"(?=.*[a-z0-9])[a-z0-9._\-]+|[0-9a-f:.]*:[0-9a-f:.]*", re.IGNORECASE)
_BARE_HOST = re.compile(r"localhost|[0-9]+(?:\.[0-9]+){3}|\[.*\]|.*\.[a-z]{2,}", re.IGNORECASE)
_HOST_AND_PORT = re.compile(r"(?P<host>\[[0-9A-Fa-f:]+\]|[A-Za-z0-9.\-]+):[0-9]+(?:/.*)?")
TEAM_PREFIX = "team:"
"""Marks a bundled agent that is a whole team."""
_PORT_DIGITS = 4
_SHARE = re.compile(r"0*(?:0?\.[0-9]+|[01](?:\.0*)?)")
_MOST_SHOWN = 200
_EXAMPLE = "'http://localhost:9010'"


@dataclass(frozen=True, kw_only=True)
class Addresses:
    """The agents that a sentence names.

    Attributes:
        participants: The agents to evaluate, in the order of the sentence.
        text: The sentence with a mark in place of every address and bundled agent.
        warnings: One for each address that is not a participant.
    """

    participants: tuple[Participant, ...]
    text: str
    warnings: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class _Mention:
    start: int
    end: int
    address: str
    excluded: bool = False


_SETTING = (
    r"(?i:(?:^|-)(?:seed|steps?|trials?|tasks?|runs?|k|ids?|limit|concurrency|concurrent|num|"
    r"max|domain|version|at|since|port|note|step|DOMAIN)(?:-|$))"
)
"""A word before a colon and digits that is not a host name."""
_LIST_WORDS = (
    r"(?:\W|[0-9]|\b(?:and|vs|versus|with|against|the|at|also|agents?|then|or|both|another|"
    r"other|one|to|but|nor|on|in|of|for|all|each|bundled|baselines?|reference|null|my|our|"
    r"now|tasks?|trials?|DOMAIN|two|three|four|five|six|seven|eight|nine|ten)\b)*"
)
"""Words between two agents of one list."""


def parse_address(raw: str) -> str:
    """Return an address in normal form: `http(s)://...` or `builtin:<name>`.

    An address without a scheme, such as `localhost:9010`, gets `http://`.

    Raises:
        Refusal: `bad-url` or `unknown-agent`.
    """
    if raw.lower().startswith(TEAM_PREFIX):
        raw = BUILTIN_PREFIX + raw
    if raw.lower().startswith(BUILTIN_PREFIX):
        name = raw[len(BUILTIN_PREFIX) :].strip()
        if name.lower().startswith(TEAM_PREFIX):
            return BUILTIN_PREFIX + _team_name(name[len(TEAM_PREFIX) :].strip())
        return BUILTIN_PREFIX + _bundled_name(name)
    if "://" not in raw:
        raw = _with_scheme(raw)
    try:
        AgentAddress.parse(raw)
    except AddressError as exc:
        raise Refusal("bad-url", f"{str(exc)[:_MOST_SHOWN]}; for example {_EXAMPLE}") from exc
    parts = urlsplit(raw)
    if not _HOST.fullmatch(parts.hostname or "") or any(mark.isspace() for mark in raw):
        raise _bad_url(raw, "it names no host")
    return f"{parts.scheme.lower()}://{parts.netloc.lower()}{raw.split(parts.netloc, 1)[1]}"


def _bundled_name(name: str) -> str:
    if name.lower() in BUNDLED_AGENTS:
        return name.lower()
    hint = did_you_mean(name, BUNDLED_AGENTS)
    raise Refusal("unknown-agent", f"there is no bundled agent {name!r}: {hint}")


def _team_name(spec: str) -> str:
    """Return `team:<name>` and its faults, `+<fault>:<member>` or `+<fault>:<member>@<share>` each."""
    name, *faults = spec.split("+")
    if name.lower() not in BUNDLED_TEAMS:
        raise Refusal(
            "unknown-agent",
            f"there is no bundled team {name!r}: {did_you_mean(name, BUNDLED_TEAMS)}",
        )
    for fault in faults:
        kind, _, member = fault.partition(":")
        if kind.lower() not in TEAM_FAULTS or not member:
            raise Refusal(
                "unknown-agent",
                f"{fault!r} is not a team fault: write +<fault>:<member>, where a fault is "
                f"{' or '.join(TEAM_FAULTS)}",
            )
        members = teams()[name.lower()].members
        struck, shared, share = member.lower().partition("@")
        if shared and not _SHARE.fullmatch(share):
            raise Refusal(
                "bad-number", f"{fault!r}: after @ write a share from 0 to 1, such as 0.5"
            )
        if struck not in members:
            raise Refusal(
                "unknown-agent",
                f"the team {name.lower()!r} has no member {struck!r}: "
                f"{did_you_mean(struck, members)}",
            )
    return TEAM_PREFIX + "+".join([name.lower(), *(fault.lower() for fault in faults)])


def _with_scheme(raw: str) -> str:
    match = _HOST_AND_PORT.fullmatch(raw)
    if match and _BARE_HOST.fullmatch(match["host"]):
        return f"http://{raw}"
    raise _bad_url(raw, f"write it as 'http://{raw}' if an agent listens there")


def _bad_url(raw: str, why: str) -> Refusal:
    shown = raw if len(raw) <= _MOST_SHOWN else f"{raw[:_MOST_SHOWN]}..."
    return Refusal(
        "bad-url", f"{shown!r} cannot be an agent's address: {why}; for example {_EXAMPLE}"
    )


def with_roles(addresses: Sequence[str]) -> tuple[Participant, ...]:
    """Make participants with distinct roles.

    A bundled agent's role is its name; a remote agent is `agent`, or `agent_1`, `agent_2` ... if
    there are several.
    """
    remote = [address for address in addresses if not address.startswith(BUILTIN_PREFIX)]
    participants = []
    for address in addresses:
        role = address.removeprefix(BUILTIN_PREFIX)
        if address in remote:
            role = "agent" if len(remote) == 1 else f"agent_{remote.index(address) + 1}"
        participants.append(Participant(role=role, address=address))
    return tuple(participants)


def agent_key(address: str) -> str:
    """Return a key that all spellings of an agent's address share; `address` is in normal form.

    `localhost` is 127.0.0.1; the scheme's default port and a trailing slash are optional.
    """
    if address.startswith(BUILTIN_PREFIX):
        return address
    parts = urlsplit(address)
    host = "127.0.0.1" if parts.hostname == "localhost" else parts.hostname
    port = parts.port or (443 if parts.scheme == "https" else 80)
    rest = address.split(parts.netloc, 1)[1]
    return f"{parts.scheme}://{host}:{port}{rest}".rstrip("/")


def find_addresses(text: str, vocabulary: Vocabulary) -> Addresses:
    """Find the agents that a sentence names.

    Raises:
        Refusal: `bad-url`, `unknown-agent`; `ambiguous` for a choice of agents; `contradiction`
            for an agent that is both included and excluded.
    """
    urls = _url_mentions(text, vocabulary)
    urls += _team_mentions(_masked(text, urls))
    names = _name_mentions(_masked(text, urls))
    found = sorted([*urls, *names], key=lambda mention: mention.start)
    mentions = _judged(_clauses(text, found, vocabulary))
    wanted, twice = _distinct(mention.address for mention in mentions if not mention.excluded)
    unwanted, _ = _distinct(mention.address for mention in mentions if mention.excluded)
    keys = {agent_key(address) for address in wanted}
    both = [address for address in unwanted if agent_key(address) in keys]
    if both:
        raise Refusal(
            "contradiction", f"{both[0]!r} is both included and excluded: say which holds"
        )
    return Addresses(
        participants=with_roles(wanted),
        text=_masked(text, mentions),
        warnings=(
            *twice,
            *(
                f"{address} is not named as an agent to evaluate: it is not contacted"
                for address in unwanted
            ),
        ),
    )


def _distinct(addresses: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return one address of each agent, and warnings about other spellings."""
    found: dict[str, str] = {}
    warnings = []
    for address in dict.fromkeys(addresses):
        first = found.setdefault(agent_key(address), address)
        if first.rstrip("/") != address.rstrip("/"):
            warnings.append(f"{address} is the same agent as {first}: it is evaluated once")
    return list(found.values()), warnings


def _masked(text: str, mentions: Sequence[_Mention]) -> str:
    pieces, at = [], 0
    for mention in mentions:
        width = mention.end - mention.start
        pieces += [text[at : mention.start], AGENT_MARK.center(width)]
        at = mention.end
    return "".join([*pieces, text[at:]])


def _url_mentions(text: str, vocabulary: Vocabulary) -> list[_Mention]:
    mentions = []
    for match in _URL.finditer(text):
        raw = match[0].rstrip(_TRAILING) if match["url"] or match["bare"] else match[0]
        if match["broken"]:
            raise _bad_url(raw, "the scheme is not followed by '://'")
        if match["bare"] and not _may_be_agent(raw, vocabulary):
            continue
        address = parse_address(_spelled_out(raw) if match["builtin"] else raw)
        end = match.start() + len(raw)
        mentions.append(_Mention(start=match.start(), end=end, address=address))
    return mentions


def _spelled_out(raw: str) -> str:
    """Return `builtin:...` for `built-in:...` and for a bare `team:...`."""
    plain = re.sub(r"^built-in:", BUILTIN_PREFIX, raw, flags=re.IGNORECASE)
    return plain if plain.lower().startswith(BUILTIN_PREFIX) else BUILTIN_PREFIX + plain


_TEAM = re.compile(
    rf"(?<![\w/:.\-])'?(?P<name>{alternatives(BUNDLED_TEAMS)}(?:\+\w+:[\w\-]+(?:@[0-9.]*[0-9])?)*)'?"
    r"(?![\w/:\-+])",
    re.IGNORECASE,
)
_LIKE_A_TEAM = re.compile(r"(?<![\w/:.\-])[a-z]{4,}[0-9]{1,2}(?![\w/:\-])", re.IGNORECASE)
_ALL_TEAMS = re.compile(
    r"\b(?:(?:all|the)\s+(?:of\s+)?(?:the\s+|your\s+)?(?:bundled|built-?in)\s+teams|"
    r"(?:every|each)\s+(?:bundled|built-?in)\s+team)\b(?!\s*:?\s*[\w']*[0-9])",
    re.IGNORECASE,
)


def _team_mentions(text: str) -> list[_Mention]:
    """Find bundled teams by name (the names are no English words), or a phrase for all of them."""
    mentions = [
        _Mention(start=m.start(), end=m.end(), address=_team_address(m["name"]))
        for m in _TEAM.finditer(text)
    ]
    everyone = None if mentions else _ALL_TEAMS.search(text)
    if mentions or re.search(r"\b(?:bundled|built-?in)\s+teams?\b", text, re.IGNORECASE):
        unknown = _LIKE_A_TEAM.search(_masked(text, mentions))
        if unknown:
            _team_name(unknown[0])
    if everyone is None:
        return mentions
    return _mentions_of_all(everyone, [_team_address(name) for name in BUNDLED_TEAMS])


def _mentions_of_all(match: re.Match[str], addresses: Sequence[str]) -> list[_Mention]:
    """Return a mention of each address: the first spans the phrase, the others are at its end."""
    start, end = match.span()
    return [
        _Mention(start=end if at else start, end=end, address=address)
        for at, address in enumerate(addresses)
    ]


def _team_address(name: str) -> str:
    return BUILTIN_PREFIX + _team_name(name)


def _may_be_agent(raw: str, vocabulary: Vocabulary) -> bool:
    """Tell whether `name:digits` looks like host and port rather than a setting or a time."""
    host, _, port = (
        raw.rpartition(":") if "/" not in raw else raw.split("/", maxsplit=1)[0].rpartition(":")
    )
    if _BARE_HOST.fullmatch(host):
        return True
    named = re.search(r"[A-Za-z]", host) and not vocabulary.pattern(_SETTING).search(host)
    return bool(named and len(port) >= _PORT_DIGITS)


_NAME = alternatives(BUNDLED_AGENTS)
_NAMES = rf"'?{_NAME}'?(?:\s*(?:,\s*and|,|and|&|\+|vs\.?|versus|or)\s*(?:the\s+)?'?{_NAME}'?\b)*"
_BEFORE_NAMES = (
    r"(?:(?:bundled|built-?in|builtin|reference|baseline)\s+(?:agents?\b\W*)?"
    rf"|(?:^|\b(?:eval|evaluate|assess|test|bench|benchmark|score|run|judge|check|try|compare|"
    rf"rate|grade|play|against|vs\.?|versus|with|and|,)|{AGENT_MARK}\s*,)\s*(?:the\s+)?)"
)
_AFTER_NAMES = (
    r"(?=\s*(?:$|[,.;:!?)\n=]|(?:on|in|for|with|at|and|vs|versus|against|over|using)\b|[0-9]))"
)
_NAMED = re.compile(
    rf"(?<![\w/:\-])(?:{_BEFORE_NAMES})(?P<free>{_NAMES}){_AFTER_NAMES}"
    rf"|(?:(?:bundled|built-?in)\s+(?:agents?\W+)?)(?P<bundled>{_NAMES})\b"
    rf"|\b(?P<agents>{_NAMES})\s+(?:(?:bundled|baseline)\s+)?"
    r"(?:agents?|baselines?|bots?|participants?)\b",
    re.IGNORECASE,
)


def _name_mentions(text: str) -> list[_Mention]:
    mentions = []
    for match in _NAMED.finditer(text):
        group = next(name for name in ("free", "bundled", "agents") if match[name])
        for single in re.finditer(rf"\b{_NAME}\b", match[group], re.IGNORECASE):
            start = match.start(group) + single.start()
            end = match.start(group) + single.end()
            address = BUILTIN_PREFIX + single[0].lower()
            mentions.append(_Mention(start=start, end=end, address=address))
    return mentions or _collective_mentions(text)


def _collective_mentions(text: str) -> list[_Mention]:
    """Find `all bundled agents`; refuse an unknown bundled agent."""
    for match in re.finditer(r"\b(?:bundled|built-?in)\s+(\w+)\s+agents?\b", text, re.IGNORECASE):
        if match[1].lower() not in {"reference", "baseline", "purple", "test", "a2a"}:
            _bundled_name(match[1])
    everyone = re.search(
        r"\b(?:(?:all|the)\s+(?:of\s+)?(?:the\s+|your\s+)?(?:(?:three|3)\s+)?"
        r"(?:bundled|built-?in)\s+(?:\w+\s+)?agents"
        r"|(?:every|each)\s+(?:bundled|built-?in)\s+(?:\w+\s+)?agent)\b",
        text,
        re.IGNORECASE,
    )
    if everyone is None:
        return []
    return _mentions_of_all(everyone, [BUILTIN_PREFIX + name for name in BUNDLED_AGENTS])


_BOUNDARY = re.compile(r"[.!?;](?=\s)|(?<![:\s])[ \t]*\n")
_FORBIDDEN = re.compile(
    r"\b(?:do\s+not|don'?t|never|must\s+not|mustn'?t|should\s+not|shouldn'?t|cannot|can'?t|won'?t|"
    r"stop|avoid|refrain|no\s+need)\b[^\n]*?\b(?:contact|evaluat|assess|test|call|us[ei]|touch|"
    r"run|includ|hit|quer|talk|connect|benchmark|scor|reach|access|involv|try|prob|ping|visit|"
    r"open|send|compar|count|play|judg|check|go|look)\w*"
)
_RESET = re.compile(r"\b(?:but(?!\s+not)|instead(?!\s+of)|only|rather(?!\s+than)|so|just)\b")
_NEGATED = re.compile(
    r"\b(?:not|without|except|excluding|instead\s+of|rather\s+than|no\s+longer|other\s+than|"
    r"ignor\w+|skip\w*|exclud\w+|leav\w+\s+out|avoid\w*|never|forget)\s+(?:for\s+)?"
    r"(?:(?:the|my|our|your|agents?|ones?|at|on|from|in|any|that|of|running|old|with|is|by|url|"
    r"endpoint|address|server|against|for|to|anything)\s+)*\W*$"
)
_SENT_THERE = (
    r"send\w*|sent|post\w*|upload\w*|submit\w*|forward\w*|publish\w*|deliver\w*|notif\w+|"
    r"e?-?mail\w*|push\w*|stor(?:e|ed|ing)|sav(?:e|ed|ing)|web-?hooks?|hooks?|callbacks?|"
    r"dashboards?|docs?|documentation|documented|readme|described|repo|repository|github|gitlab|"
    r"prox(?:y|ied)|gateway|llm|fetch\w*|download\w*|visit\w*|brows\w+|tickets?|database|mcp|"
    r"judge\s+(?:model|llm|at|is|on)|report(?:s|ed)?\s+(?:\w+\s+)*?to|used\s+to|formerly|"
    r"previously|moved|website|homepage|wiki|slack|telemetry|grafana|use\s+the\s+model|"
    r"(?:user|language|base)\s+model"
)
_RIGHT_BEFORE = (
    r"(?:description|see|source|read|load|follow|issues?|logs?|logged|page|results?|report|was|"
    r"were|old|reviewed|paper|blog|ui|frontend|metrics|traces?|write)"
    r"(?=\W*(?:(?:go|also|the|it|them|at|is|are|in|on|from|to|be|can|found|under|here|lives)\b\W*)*$)"
)
_AS_AGENT = (
    r"agents?|participants?|evaluat\w*|eval|assess\w*|test\w*|bench\w*|scor\w+|judge|check|run|"
    r"try|compare|against|endpoint|purple|target|versus|vs|now"
)
_CUE = re.compile(rf"\b(?:(?P<other>{_SENT_THERE}|{_RIGHT_BEFORE})|(?P<agent>{_AS_AGENT}))\b")
_HELPS = re.compile(r"(?<!\bcompare )\b(?:using|via|through|by)\W*$")
_OPENING = re.compile(r"^\W*(?:(?:the|my|our|on|for|with|at|against|hi|hello|please)\b\W*)*$")
_OR = re.compile(r"\W*or\W*(?:(?:the|at|agent)\b\W*)*")
_AFTERWARDS = re.compile(
    r"^\W*as\s+(?:the\s+|an?\s+)?(?:\w+\s+)?(?:user|judge|prox|gateway|webhook|dashboard|mcp|model|llm|"
    r"simulator)|"
    r"^\W*(?:which\s+|that\s+|it\s+)?(?:is|are|was|were|should|must|may|has|will|can)\b[^\n]{0,40}?"
    r"(?:\b(?:not|never|docs|documentation|dashboard|down|offline|off|ignored|excluded|forbidden|"
    r"skipped|left\s+out)\b|n't\b)"
)


@dataclass(frozen=True, kw_only=True)
class _Clause:
    """The text around a mention in its own clause, in lower case."""

    mention: _Mention
    before: str
    after: str
    joined: bool
    """True if only list words separate this mention from the one before it."""

    @property
    def asked_for(self) -> bool:
        """True if a word for evaluating precedes it, and no word for another use."""
        cue = _last(_CUE, self.before)
        return cue is not None and cue["agent"] is not None and not _HELPS.search(self.before)

    @property
    def excluded(self) -> bool:
        """True if the clause says that this is not a participant."""
        forbidden = _last(_FORBIDDEN, self.before)
        if forbidden and not _RESET.search(self.before, forbidden.end()):
            return True
        if _NEGATED.search(self.before) or _AFTERWARDS.search(self.after):
            return True
        cue = _last(_CUE, self.before)
        return cue is not None and cue["other"] is not None


def _judged(clauses: Sequence[_Clause]) -> list[_Mention]:
    """Mark the mentions that are not participants, judging by their clauses.

    A mention without a word for evaluating before it counts if it is the first, or is joined to one
    that counts.
    """
    anyone_asked_for = any(clause.asked_for and not clause.excluded for clause in clauses)
    judged: list[_Mention] = []
    for clause in clauses:
        is_choice = clause.joined and _OR.fullmatch(clause.before)
        if is_choice and not judged[-1].excluded and not clause.excluded:
            raise Refusal(
                "ambiguous",
                f"{judged[-1].address!r} or {clause.mention.address!r}? Name one, or both with 'and'",
            )
        if clause.excluded:
            excluded = True
        elif clause.joined:
            excluded = judged[-1].excluded and not re.search(r"\b(?:but|now)\b", clause.before)
        elif clause.asked_for:
            excluded = False
        else:
            excluded = bool(judged) or (anyone_asked_for and not _OPENING.search(clause.before))
        judged.append(replace(clause.mention, excluded=excluded))
    return judged


def _clauses(text: str, mentions: Sequence[_Mention], vocabulary: Vocabulary) -> list[_Clause]:
    text = text.lower().replace("’", "'") if len(text.lower()) == len(text) else text
    list_words = vocabulary.pattern(_LIST_WORDS)
    clauses = []
    for index, mention in enumerate(mentions):
        begin = mentions[index - 1].end if index else 0
        following = mentions[index + 1].start if index + 1 < len(mentions) else len(text)
        between = text[begin : mention.start]
        before = _BOUNDARY.split(between)[-1]
        clauses.append(
            _Clause(
                mention=mention,
                before=before,
                after=_BOUNDARY.split(text[mention.end : following])[0],
                joined=index > 0 and list_words.fullmatch(between) is not None,
            )
        )
    return clauses


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    return max(pattern.finditer(text), key=lambda match: match.start(), default=None)
