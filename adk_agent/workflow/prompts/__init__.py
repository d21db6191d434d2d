"""Prompts: the instructions of the agents' language models, one markdown file each.

`{{name}}` in a prompt is filled in. The prompts are versioned with the code, and reports name their
hashes, so that a score can be traced to the words that selected its tasks.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Literal

PromptName = Literal["selector", "interpreter", "follow_up"]
_HASH_LENGTH = 12
_SLOT = re.compile(r"\{\{(\w+)\}\}")


@cache
def template(name: PromptName) -> str:
    """Return a prompt as it stands in its file."""
    return resources.files(__name__).joinpath(f"{name}.md").read_text(encoding="utf-8")


def prompt(name: PromptName, values: Mapping[str, str]) -> str:
    """Return a prompt with its slots filled in; each slot must have a value."""
    return _SLOT.sub(lambda slot: values[slot[1]], template(name))


def prompt_hashes() -> dict[str, str]:
    """Return the hashes of the prompts that a report depends on."""
    return {name: prompt_hash(name) for name in ("selector", "interpreter")}


def prompt_hash(name: PromptName) -> str:
    """Return the first characters of the SHA-256 of a prompt's file."""
    return hashlib.sha256(template(name).encode()).hexdigest()[:_HASH_LENGTH]
