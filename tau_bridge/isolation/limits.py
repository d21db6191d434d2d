"""The numbers of made-up customers that talk to an agent."""

from __future__ import annotations

from typing import Final

IN_TURN: Final = 7
"""Customers one after another: the last one comes after six others."""
AT_ONCE: Final = 4
CUSTOMERS: Final = IN_TURN + AT_ONCE + 3
"""All of them: one asks by another's name, one by their contextId, and one by their task id."""
MOST_PROBES: Final = IN_TURN - 1 + AT_ONCE + 4
"""Questions that can have an answer from elsewhere: the first customer's first one cannot, and that
customer asks again at the end."""
