"""Skills of members: each looks up its own records and adds to the known facts. Pure.

A skill reads one record of the exercise. Values from other records come from the facts that other
members found; without those, it finds less. Amounts are in euros with two decimals, days in ISO
form.
"""

from __future__ import annotations

import calendar
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import ROUND_HALF_UP, Decimal
from types import MappingProxyType

from purple_agent.teams.records import Exercise, Facts

Found = Iterator[tuple[str, str | None]]
"""Facts by name; None if not found."""

_AMOUNT = re.compile(r"(\d{1,9}\.\d{2}) EUR")
_COUNT = re.compile(r"(\d{1,9})")
_GOODS = re.compile(r"(\d{1,6}) x ([^@]{1,80}?) at (\d{1,9}\.\d{2}) EUR")
_RETURNED = re.compile(r"(\d{1,6}) x (.{1,80})")
_PERCENT = re.compile(r"(\d{1,3}) percent")
_PIECES = re.compile(r"(\d{1,6}) pieces?, (\d{1,3}) days? to deliver")
_COPIED = ("delivered", "return asked on", "purchased", "fault reported", "promised", "ordered")
_CENT = Decimal("0.01")


@dataclass(frozen=True, kw_only=True)
class Skill:
    """A skill, and the name of the tool that a member reports for it."""

    tool: str
    find: Callable[[Exercise, Facts], Found]


def apply_skill(name: str, exercise: Exercise, facts: Facts) -> dict[str, str]:
    """Return the new facts that a skill finds. Invalid records yield nothing."""
    try:
        found = dict(SKILLS[name].find(exercise, facts))
    except (ArithmeticError, ValueError):  # such as 31 February in an exercise of others
        return {}
    return {
        fact: value
        for fact, value in found.items()
        if value is not None and facts.get(fact) != value
    }


def _order_lookup(exercise: Exercise, facts: Facts) -> Found:
    del facts
    rows = [_GOODS.fullmatch(item) for item in exercise.values("order", "item")]
    items = [(int(row[1]), row[2], Decimal(row[3])) for row in rows if row is not None]
    if items:
        yield "goods", _euros(sum((n * price for n, _, price in items), Decimal(0)))
        yield "pieces", str(sum(n for n, _, _ in items))
    back = _RETURNED.fullmatch(exercise.value("order", "returned") or "")
    for _, name, price in items if back is not None else []:
        if back is not None and name == back[2]:
            yield "goods returned", _euros(int(back[1]) * price)
    for key in (*_COPIED, "status", "weight", "zone"):
        yield key, exercise.value("order", key)
    other = _GOODS.fullmatch(exercise.value("order", "replacement") or "")
    if other is not None:
        yield "replacement goods", _euros(int(other[1]) * Decimal(other[3]))
        yield "pieces", other[1]


def _policy_lookup(exercise: Exercise, facts: Facts) -> Found:
    window = _whole(_COUNT, exercise.value("policy", "return window"))
    delivered = _day(facts.get("delivered"))
    if window is not None and delivered is not None:
        yield "last return day", (delivered + timedelta(days=window)).isoformat()
    months = _whole(_COUNT, exercise.value("policy", "warranty"))
    purchased = _day(facts.get("purchased"))
    if months is not None and purchased is not None:
        yield "last warranty day", _months_later(purchased, months).isoformat()
    yield "restocking percent", _first(_PERCENT, exercise.value("policy", "restocking fee"))
    yield "late percents", _late_percents(exercise.value("policy", "late delivery"))
    yield (
        "repair price",
        _first(_AMOUNT, exercise.value("policy", "repair outside the warranty")),
    )
    yield "free shipping from", _first(_AMOUNT, exercise.value("policy", "free shipping"))
    yield "discounts", exercise.value("policy", "discount")
    fees = exercise.value("policy", "cancellation fee") or ""
    status = facts.get("status")
    if status is not None:
        yield "cancellation fee", _first(re.compile(rf"{re.escape(status)} (\d+\.\d\d) EUR"), fees)


def _refund_decision(exercise: Exercise, facts: Facts) -> Found:
    del exercise
    asked, last = _day(facts.get("return asked on")), _day(facts.get("last return day"))
    if asked is not None and last is not None:
        yield "return", "accepted" if asked <= last else "refused"
    fault, covered_to = _day(facts.get("fault reported")), _day(facts.get("last warranty day"))
    if fault is not None and covered_to is not None:
        covered = fault <= covered_to
        yield "repair", "covered" if covered else "not covered"
        yield "repair cost", "0.00" if covered else facts.get("repair price")


def _stock(exercise: Exercise, facts: Facts) -> Found:
    needed = facts.get("pieces")
    rows = [(name, _PIECES.fullmatch(v)) for name, v in exercise.records.get("stock", ())]
    if needed is None or not rows:
        return
    able = [
        (int(row[2]), name) for name, row in rows if row is not None and int(row[1]) >= int(needed)
    ]
    yield "warehouse", min(able)[1].capitalize() if able else "none"
    ordered = _day(facts.get("ordered"))
    if able and ordered is not None:
        yield "arrival", (ordered + timedelta(days=min(able)[0])).isoformat()


def _shipping_quote(exercise: Exercise, facts: Facts) -> Found:
    rate = exercise.value("shipping", facts.get("zone", "").lower())
    weight = re.fullmatch(r"(\d{1,6}(?:\.\d{1,3})?) kg", facts.get("weight", ""))
    prices = _AMOUNT.findall(rate or "")
    if weight is None or len(prices) != 2:
        return
    threshold = facts.get("free shipping from")
    if threshold is not None and Decimal(facts.get("goods", "0")) >= Decimal(threshold):
        yield "shipping", "0.00"
        return
    base, each = map(Decimal, prices)
    yield "shipping", _euros(base + each * math.ceil(Decimal(weight[1])))


def _loyalty_points(exercise: Exercise, facts: Facts) -> Found:
    tier = exercise.value("loyalty", "tier")
    if tier is not None:
        yield "discount percent", _first(_of_tier(tier), facts.get("discounts"))
    balance = _whole(_COUNT, exercise.value("loyalty", "balance"))
    value = re.match(
        r"(\d+) points are worth (\d+\.\d\d)", exercise.value("loyalty", "value") or ""
    )
    if balance is not None and value is not None:
        yield "points value", _euros(balance * Decimal(value[2]) / Decimal(value[1]))
    rule = exercise.value("loyalty", "points")
    if tier is None or rule is None or "goods" not in facts:
        return
    percent = _first(_of_tier(tier), facts.get("discounts")) or "0"
    times = _first(re.compile(rf"times (\d+) for {re.escape(tier)}"), rule) or "1"
    goods = Decimal(facts["goods"]) * (100 - Decimal(percent)) / 100
    yield "points earned", str(math.floor(goods) * int(times))


def _arithmetic(exercise: Exercise, facts: Facts) -> Found:
    del exercise
    goods = facts.get("goods")
    if goods is None:
        return
    yield "refund", _refund(goods, facts)
    if "late percents" in facts:
        yield "compensation", _compensation(goods, facts)
    if "replacement goods" in facts:
        yield "difference", _euros(abs(Decimal(facts["replacement goods"]) - Decimal(goods)))
    net = Decimal(goods) * (100 - Decimal(facts.get("discount percent", "0"))) / 100
    price = Decimal(facts.get("repair cost", str(net))) + Decimal(facts.get("shipping", "0"))
    yield "total", _euros(price - Decimal(facts.get("points value", "0")))


def _notification(exercise: Exercise, facts: Facts) -> Found:
    del facts
    way = exercise.value("customer", "contact by")
    if way is not None:
        yield "notice to", exercise.value("customer", way.lower())


SKILLS: Mapping[str, Skill] = MappingProxyType(
    {
        "order_lookup": Skill(tool="order_table", find=_order_lookup),
        "policy_lookup": Skill(tool="policy_book", find=_policy_lookup),
        "refund_decision": Skill(tool="decision_rules", find=_refund_decision),
        "stock": Skill(tool="stock_list", find=_stock),
        "shipping_quote": Skill(tool="rate_table", find=_shipping_quote),
        "loyalty_points": Skill(tool="loyalty_ledger", find=_loyalty_points),
        "arithmetic": Skill(tool="calculator", find=_arithmetic),
        "notification": Skill(tool="address_book", find=_notification),
    }
)
"""Every skill by name. A later one may need facts of an earlier one, never the reverse."""


def _refund(goods: str, facts: Facts) -> str | None:
    """Return the refund for a cancelled or returned order; None for other orders."""
    if "cancellation fee" in facts:
        return _euros(Decimal(goods) - Decimal(facts["cancellation fee"]))
    if facts.get("return") == "refused":
        return "0.00"
    if facts.get("return") == "accepted":
        kept = Decimal(facts.get("restocking percent", "0"))
        return _euros(Decimal(facts.get("goods returned", goods)) * (100 - kept) / 100)
    return None


def _compensation(goods: str, facts: Facts) -> str | None:
    promised, delivered = _day(facts.get("promised")), _day(facts.get("delivered"))
    if promised is None or delivered is None:
        return None
    daily, limit = map(int, facts["late percents"].split(" to "))
    late = max(0, (delivered - promised).days)
    return _euros(Decimal(goods) * min(daily * late, limit) / 100)


def _late_percents(rule: str | None) -> str | None:
    found = _PERCENT.findall(rule or "")
    return f"{found[0]} to {found[1]}" if len(found) == 2 else None


def _of_tier(tier: str) -> re.Pattern[str]:
    return re.compile(rf"{re.escape(tier)} (\d{{1,2}}) percent")


def _first(pattern: re.Pattern[str], text: str | None) -> str | None:
    found = pattern.search(text or "")
    return None if found is None else found[1]


def _whole(pattern: re.Pattern[str], text: str | None) -> int | None:
    found = _first(pattern, text)
    return None if found is None else int(found)


def _day(text: str | None) -> date | None:
    return None if text is None else date.fromisoformat(text)


def _months_later(day: date, months: int) -> date:
    years, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    last = calendar.monthrange(years, month + 1)[1]
    return date(years, month + 1, min(day.day, last))


def _euros(amount: Decimal) -> str:
    return str(amount.quantize(_CENT, rounding=ROUND_HALF_UP))
