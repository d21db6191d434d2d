"""Hashes that identify a policy without its text."""

from __future__ import annotations

import hashlib
import json


def hash_policy(document: object) -> str:
    """Return the hash of a policy document; the order of keys in its objects does not matter."""
    try:
        text = json.dumps(document, sort_keys=True)
    except (TypeError, ValueError, RecursionError):
        text = ""  # such a policy cannot be read either, so all of them are alike
    return hashlib.sha256(text.encode()).hexdigest()
