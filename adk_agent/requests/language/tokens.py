"""Tokens: splits a sentence into words, numbers, names and signs, and forgets none of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

from adk_agent.core.plan import BUILTIN_PREFIX
from adk_agent.requests.agents import BUNDLED_AGENTS, BUNDLED_TEAMS, TEAM_PREFIX, parse_address
from adk_agent.requests.language import lexicon
from adk_agent.requests.language.vocabulary import Vocabulary

Kind = Literal["agent", "domain", "number", "noun", "id", "model", "word", "mark", "end", "odd"]
"""`noun`: a word for tasks. `model`: looks like the name of a language model. `odd`: holds digits or
letters of other scripts, and is none of the others."""


@dataclass(frozen=True, kw_only=True)
class Token:
    """A piece of a sentence.

    Args:
        kind: What it is.
        text: In lower case.
        value: An agent's address, a domain's name, a number in digits, or an id as it is written.
        start: Where it begins in the sentence.
        end: Where it ends.
        repaired: It was misspelled.
    """

    kind: Kind
    text: str
    value: str = ""
    start: int
    end: int
    repaired: bool = False

    @property
    def ends_clause(self) -> bool:
        """Tell whether a clause ends with it."""
        return self.kind == "end" or self.text in (",", ";", ":", "(", ")")


_ENDS = r"""\s<>"'`|\\^{}\[\](),;*"""
_TOKEN = re.compile(
    rf"(?P<agent>[A-Za-z][A-Za-z0-9+.\-]*://(?:\[[0-9A-Fa-f:.]*\])?[^{_ENDS}]*"
    r"|built-?in:\s?(?:team:)?[\w\-]*(?:\+\w+:[\w\-]+(?:@[0-9.]*[0-9])?)*"
    r"|team:[\w\-]+(?:\+\w+:[\w\-]+(?:@[0-9.]*[0-9])?)*"
    r"|https?(?::?/{1,2}|:\\+|:(?=[A-Za-z0-9]))\S+"
    rf"|(?:\[[0-9A-Fa-f:]+\]|localhost|[A-Za-z0-9][A-Za-z0-9.\-]*\.[A-Za-z0-9\-]+):[0-9]{{1,6}}"
    rf"(?![\w:])(?:/[^{_ENDS}]*)?|localhost [0-9]{{4,5}}\b)"
    r"|(?P<id>\[[^\]\s]+\][^\s,;]+)|(?P<key>\b[A-Za-z0-9]+(?:_[A-Za-z0-9]+)+\b)"
    r"|(?P<model>\b[A-Za-z][\w.\-]*/[\w.:\-]*[0-9][\w.:\-]*\w|\b[a-z][\w.\-]*/[a-z][\w.]*-[\w.\-]*\w|\b[A-Za-z]+-[\w.\-]*[0-9][\w.\-]*(?<=\w))"
    r"|(?P<number>(?:[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])|[0-9]+(?:\.[0-9]+)*)(?:st|nd|rd|th|x)?(?!\w))"
    r"|(?P<times>\b[x×][0-9]+\b)"
    r"|(?P<negative>(?<![^\s(])-[0-9]+\b)"
    r"|(?P<odd>\w*[0-9]\w*)"
    r"|(?P<word>[^\W\d_]+(?:['.][^\W\d_]+)*)"
    r"|(?P<end>[.!?]+(?=\s|$)|(?<!:)(?<!: )\n+)"
    r"|(?P<mark>\S)",
    re.IGNORECASE,
)
_PLAIN = str.maketrans(
    {**dict.fromkeys("‘’ʼ", "'"), **dict.fromkeys('“”„«»"`*', " ")}
    | {
        **dict.fromkeys("‐‑‒–−—", "-"),
        "\u00a0": " ",
        "\r": "\n",
        "\t": " ",
        "<": " ",
        ">": " ",
        "→": ":",
        "=": ":",
    }
)
"""Replaces single characters, so that positions stay."""
_POSSESSIVE = "'s"
_SHORT = lexicon.words("it's that's there's here's what's who's how's let's he's she's where's")
_KEY_WORDS = lexicon.words("num ids id nr llm concurrency args type")
_LONGEST_NAME = 7
"""Tokens, hyphens included."""


def tokenize(text: str, vocabulary: Vocabulary, registered: Mapping[str, str]) -> list[Token]:
    """Split a sentence into tokens.

    Raises:
        Refusal: An address cannot be one.
    """
    plain = text.translate(_PLAIN)
    found = [token for match in _TOKEN.finditer(plain) for token in _tokens(match, vocabulary)]
    found = _with_reference(_with_names(found, plain, vocabulary, registered))
    return _with_special_nouns(_with_numbers(found), vocabulary)


def _tokens(match: re.Match[str], vocabulary: Vocabulary) -> Sequence[Token]:
    """Return the token of a match; a few are two."""
    kind: Kind = match.lastgroup  # type: ignore[assignment]  # the groups are named after the kinds
    text, start, end = match[0], match.start(), match.end()
    value = text
    if kind == "agent":
        text = text.rstrip(".!?:…")
        end, value = start + len(text), parse_address(_spelled_out(text))
    elif kind == "number":
        kind, value = _number(text)
    elif match["times"]:
        times = Token(kind="word", text="times", start=end, end=end)
        return Token(kind="number", text=text.lower(), value=text[1:], start=start, end=end), times
    elif match["negative"]:
        kind = "odd"
    elif match["key"]:
        return _words_of_key(match, vocabulary)
    elif kind == "word" and not text.isascii():
        kind = "odd"
    elif kind == "odd" and lexicon.is_harmless(text.lower()):
        kind = "word"
    token = Token(kind=kind, text=text.lower(), value=value, start=start, end=end)
    return (_without_possessive(token),)


def _words_of_key(match: re.Match[str], vocabulary: Vocabulary) -> Sequence[Token]:
    """Return the words of a key such as `num_tasks`; any other word with an underscore is an id."""
    text, at = match[0], match.start()
    parts = text.lower().split("_")
    known = (lexicon.is_known(part) or part in vocabulary.nouns | _KEY_WORDS for part in parts)
    if not all(known):
        return (Token(kind="id", text=text.lower(), value=text, start=at, end=match.end()),)
    words = []
    for part in parts:
        words.append(Token(kind="word", text=part, start=at, end=at + len(part)))
        at += len(part) + 1
    return words


def _spelled_out(raw: str) -> str:
    """Return an address with a colon before its port, and `builtin:` before a bundled name."""
    plain = re.sub(r"^built-in:\s?", BUILTIN_PREFIX, raw, flags=re.IGNORECASE)
    return re.sub(r"^localhost ", "localhost:", plain, flags=re.IGNORECASE)


def _number(text: str) -> tuple[Kind, str]:
    digits = text.lower().rstrip("stndrhx").lstrip("x×")
    whole = re.fullmatch(r"[0-9]+|[0-9]{1,3}(?:,[0-9]{3})+", digits)
    return ("number", digits.replace(",", "")) if whole else ("odd", "")


def _without_possessive(token: Token) -> Token:
    """Take the possessive ending off a word, which no name has."""
    if token.kind == "word" and token.text.endswith(_POSSESSIVE) and token.text not in _SHORT:
        cut = len(_POSSESSIVE)
        return replace(token, text=token.text[:-cut], end=token.end - cut)
    return token


def _with_names(
    tokens: Sequence[Token], plain: str, vocabulary: Vocabulary, registered: Mapping[str, str]
) -> list[Token]:
    """Find agents, domains and nouns for tasks among the words; a name may be several words."""
    names = _agent_names(registered)
    named: list[Token] = []
    at = 0
    while at < len(tokens):
        width = next(
            (n for n in range(_LONGEST_NAME, 0, -1) if _name(tokens[at : at + n], plain) in names),
            0,
        )
        if width:
            group = tokens[at : at + width]
            end, value = group[-1].end, names[_name(group, plain)]
            said = plain[group[0].start : end].lower()
            named.append(replace(group[0], kind="agent", text=said, value=value, end=end))
        else:
            named.append(_with_meaning(tokens[at], vocabulary))
        at += max(width, 1)
    return named


def _with_reference(tokens: Sequence[Token]) -> list[Token]:
    """Take `reference` for the bundled agent where it stands beside another agent, or after `agent:`."""
    found = list(tokens)
    for index, token in enumerate(found):
        if token.text != "reference" or token.kind != "word":
            continue
        before = [other.text for other in found[max(index - 2, 0) : index]]
        beside = [other.kind for other in found[max(index - 2, 0) : index + 3]]
        after = found[index + 1] if index + 1 < len(found) else None
        ends = after is None or after.kind != "word" or lexicon.is_harmless(after.text)
        if before[-2:] == ["agent", ":"] or ("agent" in beside and ends):
            found[index] = replace(token, kind="agent", value=f"{BUILTIN_PREFIX}reference")
    return found


def _agent_names(registered: Mapping[str, str]) -> dict[str, str]:
    """Return addresses by name without hyphens; of the bundled ones, all that are no plain words."""
    found = {name: BUILTIN_PREFIX + name for name in BUNDLED_AGENTS if name != "reference"}
    reference = f"{BUILTIN_PREFIX}reference"
    found |= {f"reference{noun}": reference for noun in ("agent", "bot", "assistant")}
    found |= {"bundledreference": reference}
    found |= {name: f"{BUILTIN_PREFIX}{TEAM_PREFIX}{name}" for name in BUNDLED_TEAMS}
    return found | {name.replace("-", ""): address for name, address in registered.items()}


def _name(group: Sequence[Token], plain: str) -> str:
    """Return words in one, if only hyphens and single spaces are between them; else nothing."""
    for left, right in pairwise(group):
        if plain[left.end : right.start] not in ("", " "):
            return ""
    if not group or group[0].text == "-" or group[-1].text == "-":
        return ""
    texts = (token.text for token in group if token.text != "-")
    return "".join(str(lexicon.NUMBER_WORDS.get(text, text)) for text in texts)


def _with_meaning(token: Token, vocabulary: Vocabulary) -> Token:
    if token.kind not in ("word", "id", "odd"):
        return token
    domain = vocabulary.domain_named(token.text)
    if domain is not None:
        return replace(token, kind="domain", value=domain)
    if token.kind == "word" and token.text in vocabulary.nouns:
        return replace(token, kind="noun")
    if token.kind == "word" and not lexicon.is_known(token.text):
        repaired = vocabulary.repaired(token.text)
        if repaired is not None:
            return replace(token, kind="domain", value=repaired, repaired=True)
    if token.kind == "odd":
        named = vocabulary.task_named(token.text)
        return replace(token, kind="id", value=named[1]) if named else token
    return token


def _with_special_nouns(tokens: Sequence[Token], vocabulary: Vocabulary) -> list[Token]:
    """Take a noun that belongs to one domain for the domain, where that is not named beside it."""
    found = list(tokens)
    for index, token in enumerate(found):
        domain = vocabulary.special_nouns.get(token.text) if token.kind == "noun" else None
        near = found[max(index - 1, 0) : index + 4]
        if domain and not any(other.value == domain for other in near):
            found[index] = replace(token, kind="domain", value=domain)
    return found


def _with_numbers(tokens: Sequence[Token]) -> list[Token]:
    """Replace numbers in words, such as `half a dozen` or `twenty-five`, with numbers."""
    found: list[Token] = []
    at = 0
    while at < len(tokens):
        width, value = _spoken(tokens, at)
        if width and not _is_pronoun(tokens, at, width):
            end = tokens[at + width - 1].end
            token = replace(tokens[at], kind="number", value=str(value), end=end)
            found.append(replace(token, text=" ".join(t.text for t in tokens[at : at + width])))
        else:
            width = 1
            found.append(tokens[at])
        at += width
    return found


def _is_pronoun(tokens: Sequence[Token], at: int, width: int) -> bool:
    """Tell whether `one` stands for a thing, as in `which one`, and counts nothing."""
    if width > 1 or tokens[at].text != "one":
        return False
    after = tokens[at + 1] if at + 1 < len(tokens) else None
    counts = after is not None and (
        after.kind in ("noun", "domain") or after.text in lexicon.TRIAL_NOUNS
    )
    return not counts


def _spoken(tokens: Sequence[Token], at: int) -> tuple[int, int]:
    """Return how many tokens from `at` on spell a number, and its value."""
    texts = [token.text for token in tokens[at : at + 8]]
    if texts[:3] == ["half", "a", "dozen"]:
        return 3, 6
    width = (
        1 if texts[:1] in (["a"], ["an"]) and texts[1:2] and texts[1] in lexicon.MULTIPLIERS else 0
    )
    total, value, last = 0, 1 if width else 0, width
    while width < len(texts):
        text = texts[width]
        if text in lexicon.NUMBER_WORDS:
            number = lexicon.NUMBER_WORDS[text]
            if text in lexicon.MULTIPLIERS:
                value = max(value, 1) * number
            elif value % 10 or (value and number >= 10 and value < 100):
                break  # "three seven": two numbers
            else:
                value += number
            last = width = width + 1
        elif text in ("-", "and") and last == width and value >= (100 if text == "and" else 20):
            width += 1
        else:
            break
    return (last, total + value) if last and (last > 1 or texts[0] != "a") else (0, 0)
