"""Marks: by what a policy is known again where its text is not kept."""

from __future__ import annotations

import hashlib
import json


def hash_policy(document: object) -> str:
    """Return a hash of a policy as it came; the order of names in its objects does not count."""
    try:
        text = json.dumps(document, sort_keys=True)
    except (TypeError, ValueError, RecursionError):
        text = ""  # nothing can be read of it either: one such policy is as good as another
    return hashlib.sha256(text.encode()).hexdigest()
