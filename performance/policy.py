"""What judging by a policy costs: python performance/policy.py

Milliseconds of CPU, best of five: to read and to evaluate one condition (a plain one, a typical one,
one of the largest size that is taken, and so on), and for a whole policy of 1,000 rules.

Exits with 1 where evaluating a condition takes longer than a millisecond.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

from purple_agent.policy.language import read_condition
from purple_agent.policy.rules import Policy, read_policy
from purple_agent.policy.syntax import find

MOST_MS = 1.0
FACTS = {
    "expense": {"amount": 750.25, "status": "open", "owner": {"level": 3, "country": "FR"}},
    "request": {"status": "approved", "count": "5"},
}
CONDITIONS = {
    "plain": "expense.amount > 500",
    "typical": "expense.amount > 500 && request.status === 'approved' && !(expense.owner.level >= 4)",
    "largest": " || ".join(["expense.owner.level > 3.5"] * 66 + ["request.count == 5"]),
    "deepest": "!(" * 45 + "expense.amount > 500" + ")" * 45,
    "unknown": " && ".join(["expense.gone.level > 3.5"] * 66),
}


def cost_ms(work: Callable[[], object], times: int) -> float:
    """CPU time of one go, in milliseconds: the best of five rounds."""
    best = float("inf")
    for _ in range(5):
        start = time.process_time()
        for _ in range(times):
            work()
        best = min(best, time.process_time() - start)
    return best / times * 1_000


def measured(label: str, text: str) -> float:
    read_condition(text)
    condition = read_condition(text)
    reading = cost_ms(lambda: read_condition(text), 20)
    judging = cost_ms(lambda: condition.judge(lambda path: find(FACTS, path)), 500)
    print(f"{label:>10} {len(text):>6} {reading:>10.3f} {judging:>12.4f}")
    return judging


def whole_policy() -> Policy:
    rules = [
        {"id": f"R{at}", "condition": f"expense.amount > {at} && expense.status === 'closed'"}
        | {"action": "block"}
        for at in range(1_000)
    ]
    return read_policy({"rules": rules})[0]


def main() -> int:
    print(f"{'':>10} {'chars':>6} {'read, ms':>10} {'evaluate, ms':>12}")
    slowest = max(measured(label, text) for label, text in CONDITIONS.items())
    policy = whole_policy()
    print(f"1,000 rules: read {cost_ms(whole_policy, 1):.0f} ms, ", end="")
    print(f"judged {cost_ms(lambda: policy.judge(FACTS), 5):.1f} ms")
    return int(slowest > MOST_MS)


if __name__ == "__main__":
    sys.exit(main())
