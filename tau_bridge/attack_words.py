"""Words with which people ask for benchmarks of attacks."""

from __future__ import annotations

from typing import Final

BENIGN: Final = "benign"
"""The split of the cases without an attack."""
ATTACKED: Final = "attacked"
"""The split of the cases with one."""

_NAMES: Final = ("attack", "injection", "prompt injection", "injected text")

SPLIT_WORDS: Final = {
    **dict.fromkeys(("clean", "unattacked", "benign utility", "utility without attack"), BENIGN),
    **{f"{without} {name}": BENIGN for without in ("without", "no") for name in _NAMES},
    "utility under attack": ATTACKED,
    **{f"{beside} {name}": ATTACKED for beside in ("with", "under") for name in _NAMES},
}
"""Phrases for the two splits; articles may stand in them, and the last word may be a plural."""
_ADJECTIVES: Final = ("safe", "secure", "robust", "resistant", "vulnerable")
PLAIN_PHRASES: Final = (
    *("targeted attack success rate", "attack success rate", "targeted asr", "asr", "success rate"),
    *("indirect prompt injection attack", "prompt injection attack", "indirect prompt injection"),
    *("injection attack", "prompt injection", "attack", "attacked by"),
    *("attacked with", "safer", "safest", "safety", "security", "robustness", "resist"),
    *(f"more {each}" for each in _ADJECTIVES),
    *_ADJECTIVES,
)
"""Words about what is measured that choose nothing, longer phrases first."""
