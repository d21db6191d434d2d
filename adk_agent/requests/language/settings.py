"""Settings: reads trials, seed, limits and the like out of a sentence."""

from __future__ import annotations

from typing import Any

from adk_agent.requests.language.phrases import Sentence
from adk_agent.requests.refusal import Refusal

SETTINGS: tuple[tuple[str, Any, str], ...] = (
    ("user_llm", None, "(simulated)? (user|users) (take the|use the)? (model|llm|simulator)? FILL* M"),
    ("user_llm", None, "(when|if|with|where)? M (as|for|to be|is|should be|plays|play) (the|a)? (simulated)? USER (model|llm|simulator)?"),
    ("user_llm", None, "USER? (simulated|played) by M|simulate (the|a)? USER (with|by) M"),
    ("user_llm", None, "M (simulate|simulates|simulating|play|playing|acting as) (the|a)? USER"),
    ("max_concurrency", 1, "(one by one|one at a time|one after the other|one after another|sequentially|"
     "one TALK at a time|one TALK at once|in sequence) (, please)?"),
    ("max_concurrency", None, "(concurrency|parallelism|max concurrency|max concurrent|parallel TALK) FILL* MOST? N"),
    ("max_concurrency", None, "(MOST)? N TALK? (may|can|should)? (run|running|going)? (at a time|at once|at the same time|"
     "in (the)? same time|in parallel|concurrently|simultaneously|parallel)"),
    ("max_concurrency", None, "(keep to|MOST)? N (simultaneous|concurrent|parallel) TALK"),
    ("max_concurrency", None, "(and|with)? N (parallel)? (workers|threads|lanes)"),
    ("max_steps", None, "(maximum|max|maximal|step) (number of)? (steps|limit|step|cap) (limit)? FILL* N"),
    ("max_steps", None, "(cap|limit) (the|all)? (TALK|them|it)? (at|to) N steps (each|PER|per TALK)?"),
    ("max_steps", None, "(MOST|and)? N steps (maximum|max|at most)? (each|PER|(per|a|in each) TALK)?"),
    ("pass_k", None, "pass (^|hat) FILL* N"),
    ("num_trials", None, "(with|for)? k (up)? FILL* N TRIALS?"),
    ("num_trials", 1, "(a|one)? single TRIALS (PER)?"),
    ("num_trials", None, "(num|number of) (-)? TRIALS FILL* N"),
    ("num_trials", None, "TRIALS (PER)? (:|-|are|is) N !T !D|START (trials|repeats|repetitions) N"),
    ("num_trials", None, "(EACHT)? (do|run)? (MOST)? N (-)? TRIALS (PER)?"),
    ("num_trials", None, "N x (each|PER)"),
    ("num_trials", 2, "(EACHT)? (tried|played|run)? twice !as (PER)?"),
    ("num_trials", 3, "(EACHT)? thrice (PER)?"),
    ("num_trials", 1, "just once|once each|once per T|(each|every) T once"),
    ("seed", None, "(random)? (seed|seeded) FILL* N"),
    ("solo", True, "solo (mode|setting|tasks)?"),
    ("solo", True, "(with no|without|no) DET* (simulated)? USER (simulator|simulation|simulated|side)?"),
    ("references", True, "(the)? floor (and|n|+|&|/|,) (the)? ceiling (agents)? ((beside|alongside|besides|next to|together with|with) (it|them|that|its score|the score)?)?"),
    ("confidence", True, "(and|,|with)* (ask|asking) (it|them|(the|my)? (AGENT|AGENTS)|A)? (for|about) (its|their|a)? (stated)? confidence"),
    ("confidence", True, "(and|,)* with (its|their|a)? (stated|self-reported) confidence"),
    ("evaluation_type", "action", "evaluation type FILL* action|action evaluation"),
    ("evaluation_type", "action", "(legacy)? (action|actions) (-)? only (scoring|evaluation|score)?"),
    ("evaluation_type", "action", "(only)? by (its|the) actions|legacy action (scoring|evaluation)|"
     "using action (scoring|evaluation)"),
)  # fmt: skip
"""Name, value (None: the number in the words) and pattern, the more specific ones first."""


def take_settings(sentence: Sentence) -> dict[str, Any]:
    """Take the settings out of a sentence; return their values by name.

    Raises:
        Refusal: `contradiction` if two of them do not agree.
    """
    values: dict[str, Any] = {}
    words: dict[str, str] = {}
    for name, fixed, notation in SETTINGS:
        for found in sentence.find(notation):
            sentence.place(found)
            said = sentence.said(found)
            models = sentence.values("model", found)
            value = fixed or [*models, *map(int, sentence.values("number", found))][0]
            if name == "pass_k":
                value = max(value, values.get(name, 0))
            elif values.setdefault(name, value) != value:
                raise Refusal("contradiction", f"{words[name]!r} and {said!r}: write which holds")
            values[name], words[name] = value, said
    if values.get("solo") and "user_llm" in values:
        said = f"{words['solo']!r} and {words['user_llm']!r}"
        raise Refusal(
            "contradiction", f"{said}: without a user no model plays one; write which holds"
        )
    passed = values.pop("pass_k", 0)
    if passed and passed > values.setdefault("num_trials", passed):
        raise Refusal(
            "contradiction",
            f"{words['pass_k']!r} takes {passed} trials, not {values['num_trials']}",
        )
    return values
